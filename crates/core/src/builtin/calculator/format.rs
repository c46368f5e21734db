//! Numbers as Python prints them.

use super::number::Number;

/// The text of a number, which is JSON too.
pub(super) fn text(number: &Number) -> String {
    match number {
        Number::Int(value) => value.to_string(),
        Number::Float(value) => float(*value),
    }
}

/// The shortest digits that read back as the same float, with an exponent below 1e-4 and from 1e16.
fn float(value: f64) -> String {
    let scientific = shortest(value.abs());
    let parts = scientific.split_once('e').and_then(|(mantissa, exponent)| Some((mantissa, exponent.parse::<i32>().ok()?)));
    let Some((mantissa, exponent)) = parts else { return scientific };
    let sign = if value.is_sign_negative() { "-" } else { "" };
    if !(-4..16).contains(&exponent) {
        let direction = if exponent < 0 { '-' } else { '+' };
        return format!("{sign}{mantissa}e{direction}{:02}", exponent.unsigned_abs());
    }
    let mut digits = mantissa.replace('.', "");
    digits.insert_str(0, &"0".repeat(usize::try_from(-exponent).unwrap_or(0)));
    // At least one digit on each side of the point.
    let point = usize::try_from(exponent).unwrap_or(0) + 1;
    let padded = format!("{digits:0<width$}", width = point + 1);
    let (whole, fraction) = padded.split_at_checked(point).unwrap_or((&padded, "0"));
    format!("{sign}{whole}.{fraction}")
}

/// The shortest digits in scientific notation. Of two that are equally near, Rust takes the upper and Python the even one,
/// as rounding to a number of digits does.
fn shortest(value: f64) -> String {
    let upper = format!("{value:e}");
    let mantissa = upper.split_once('e').map_or("", |(mantissa, _)| mantissa);
    let digits = mantissa.bytes().filter(u8::is_ascii_digit).count();
    let even = format!("{value:.*e}", digits.saturating_sub(1));
    if even.parse() == Ok(value) { even } else { upper }
}
