//! Exact integers and floats, with Python's arithmetic on both: every result is checked, large ones before they are computed.

use super::MAX_DIGITS;
use super::error::{CalcError, DOMAIN, FLOAT_TOO_LARGE, INTEGER_TOO_LARGE_FOR_FLOAT};
use num_bigint::{BigInt, Sign};
use num_integer::Integer;
use num_traits::{Float, FromPrimitive, One, Signed, ToPrimitive, Zero};
use std::cmp::Ordering;
use std::sync::LazyLock;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Number {
    Int(BigInt),
    Float(f64),
}

use Number::{Float as Real, Int};

pub(super) type Outcome = Result<Number, CalcError>;

/// The smallest integer that has too many digits.
static LIMIT: LazyLock<BigInt> = LazyLock::new(|| BigInt::from(10).pow(MAX_DIGITS));

pub(super) fn integer(value: BigInt) -> Outcome {
    if value.magnitude() < LIMIT.magnitude() { Ok(Int(value)) } else { Err(CalcError::TooLarge) }
}

pub(super) fn real(value: f64) -> Outcome {
    if value.is_finite() { Ok(Real(value)) } else { Err(FLOAT_TOO_LARGE) }
}

/// Refuses a result that is known to have at least this many bits.
fn check_bits(least: u64) -> Result<(), CalcError> {
    if least > LIMIT.bits() { Err(CalcError::TooLarge) } else { Ok(()) }
}

impl Number {
    /// The nearest float.
    pub(super) fn to_float(&self) -> Result<f64, CalcError> {
        match self {
            Real(value) => Ok(*value),
            Int(value) => value.to_f64().filter(|value| value.is_finite()).ok_or(INTEGER_TOO_LARGE_FOR_FLOAT),
        }
    }

    pub(super) fn to_integer(&self) -> Result<&BigInt, CalcError> {
        match self {
            Int(value) => Ok(value),
            Real(_) => Err(CalcError::failed("'float' object cannot be interpreted as an integer")),
        }
    }

    /// Compares exactly, also an integer with a float.
    pub(super) fn compare(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Int(left), Int(right)) => left.cmp(right),
            (Real(left), Real(right)) => left.partial_cmp(right).unwrap_or(Ordering::Equal),
            (Int(left), Real(right)) => compare_mixed(left, *right),
            (Real(left), Int(right)) => compare_mixed(right, *left).reverse(),
        }
    }
}

fn compare_mixed(left: &BigInt, right: f64) -> Ordering {
    let floor = right.floor();
    match BigInt::from_f64(floor).map(|whole| left.cmp(&whole)) {
        Some(Ordering::Equal) if right > floor => Ordering::Less,
        Some(order) => order,
        None => Ordering::Equal,
    }
}

/// The integer of a float without a fraction.
pub(super) fn whole(value: f64) -> Outcome {
    BigInt::from_f64(value).map(Int).ok_or(DOMAIN)
}

pub(super) fn negate(operand: &Number) -> Outcome {
    Ok(match operand {
        Int(value) => Int(-value),
        Real(value) => Real(-value),
    })
}

pub(super) fn keep(operand: &Number) -> Outcome {
    Ok(operand.clone())
}

pub(super) fn absolute(operand: &Number) -> Outcome {
    Ok(match operand {
        Int(value) => Int(value.abs()),
        Real(value) => Real(value.abs()),
    })
}

pub(super) fn add(left: &Number, right: &Number) -> Outcome {
    match (left, right) {
        (Int(left), Int(right)) => integer(left + right),
        _ => real(left.to_float()? + right.to_float()?),
    }
}

pub(super) fn subtract(left: &Number, right: &Number) -> Outcome {
    match (left, right) {
        (Int(left), Int(right)) => integer(left - right),
        _ => real(left.to_float()? - right.to_float()?),
    }
}

pub(super) fn multiply(left: &Number, right: &Number) -> Outcome {
    match (left, right) {
        (Int(left), Int(right)) => {
            check_bits((left.bits() + right.bits()).saturating_sub(1))?;
            integer(left * right)
        }
        _ => real(left.to_float()? * right.to_float()?),
    }
}

pub(super) fn divide(left: &Number, right: &Number) -> Outcome {
    match (left, right) {
        (Int(left), Int(right)) => quotient(left, right),
        _ => {
            let (left, right) = (left.to_float()?, nonzero(right.to_float()?)?);
            real(left / right)
        }
    }
}

pub(super) fn floor_divide(left: &Number, right: &Number) -> Outcome {
    match (left, right) {
        (Int(_), Int(right)) if right.is_zero() => Err(CalcError::DivisionByZero),
        (Int(left), Int(right)) => integer(left.div_floor(right)),
        _ => {
            let (left, right) = (left.to_float()?, nonzero(right.to_float()?)?);
            let rest = left % right;
            let opposite = rest != 0.0 && (right < 0.0) != (rest < 0.0);
            let exact = (left - rest) / right - if opposite { 1.0 } else { 0.0 };
            let floor = exact.floor();
            // The division above may have come out just below a whole number.
            let near = if exact - floor > 0.5 { floor + 1.0 } else { floor };
            real(if exact == 0.0 { 0.0.copysign(left / right) } else { near })
        }
    }
}

pub(super) fn modulo(left: &Number, right: &Number) -> Outcome {
    match (left, right) {
        (Int(_), Int(right)) if right.is_zero() => Err(CalcError::DivisionByZero),
        (Int(left), Int(right)) => integer(left.mod_floor(right)),
        _ => {
            let (left, right) = (left.to_float()?, nonzero(right.to_float()?)?);
            let rest = left % right;
            real(match rest {
                0.0 => 0.0.copysign(right),
                _ if (right < 0.0) != (rest < 0.0) => rest + right,
                _ => rest,
            })
        }
    }
}

fn nonzero(divisor: f64) -> Result<f64, CalcError> {
    if divisor == 0.0 { Err(CalcError::DivisionByZero) } else { Ok(divisor) }
}

pub(super) fn power(base: &Number, exponent: &Number) -> Outcome {
    match (base, exponent) {
        (Int(base), Int(exponent)) if !exponent.is_negative() => integer_power(base, exponent),
        _ => real_power(base.to_float()?, exponent.to_float()?),
    }
}

fn integer_power(base: &BigInt, exponent: &BigInt) -> Outcome {
    if exponent.is_zero() || base.is_one() {
        return Ok(Int(BigInt::one()));
    }
    if base.is_zero() {
        return Ok(Int(BigInt::zero()));
    }
    if base.magnitude().is_one() {
        return Ok(Int(if exponent.is_even() { -base } else { base.clone() }));
    }
    let exponent = exponent.to_u32().ok_or(CalcError::TooLarge)?;
    check_bits((base.bits() - 1).saturating_mul(u64::from(exponent)).saturating_add(1))?;
    integer(base.pow(exponent))
}

fn real_power(base: f64, exponent: f64) -> Outcome {
    if base == 0.0 && exponent < 0.0 {
        return Err(CalcError::DivisionByZero);
    }
    if base < 0.0 && exponent.fract() != 0.0 {
        return Err(CalcError::failed("the result is a complex number"));
    }
    real(base.powf(exponent))
}

/// The float nearest to a quotient of integers of any size: an integer division to two bits beyond a float's 53, rounded half to even.
fn quotient(left: &BigInt, right: &BigInt) -> Outcome {
    const DIGITS: i64 = 53;
    const LEAST_EXPONENT: i64 = -1021;
    const TOO_LARGE: CalcError = CalcError::failed("integer division result too large for a float");
    if right.is_zero() {
        return Err(CalcError::DivisionByZero);
    }
    let signed = |magnitude: f64| if (left.sign() == Sign::Minus) == (right.sign() == Sign::Minus) { magnitude } else { -magnitude };
    if left.is_zero() {
        return Ok(Real(signed(0.0)));
    }
    let bits = |value: &BigInt| i64::try_from(value.bits()).unwrap_or(i64::MAX);
    let difference = bits(left) - bits(right);
    if difference > 1024 {
        return Err(TOO_LARGE);
    }
    if difference < LEAST_EXPONENT - DIGITS - 1 {
        return Ok(Real(signed(0.0)));
    }
    let shift = difference.max(LEAST_EXPONENT) - DIGITS - 2;
    let (left, right) = (left.magnitude().clone(), right.magnitude().clone());
    let (left, right) = if shift < 0 { (left << shift.unsigned_abs(), right) } else { (left, right << shift.unsigned_abs()) };
    let (whole, rest) = left.div_rem(&right);
    let whole = whole.to_u64().ok_or(TOO_LARGE)?;
    let whole_bits = i64::from(u64::BITS - whole.leading_zeros());
    let extra = whole_bits.max(LEAST_EXPONENT - shift) - DIGITS;
    let half = 1_u64 << (extra - 1);
    let sticky = whole | u64::from(!rest.is_zero());
    let up = sticky & half != 0 && sticky & (3 * half - 1) != 0;
    let kept = (whole & !(2 * half - 1)) + if up { 2 * half } else { 0 };
    // Exact: the kept bits fit, and each factor is a power of two within range.
    let first = shift / 2;
    #[allow(clippy::cast_precision_loss, reason = "at most 53 bits are kept")]
    let value = kept as f64 * two_to(first) * two_to(shift - first);
    if value.is_finite() { Ok(Real(signed(value))) } else { Err(TOO_LARGE) }
}

fn two_to(exponent: i64) -> f64 {
    2.0_f64.powi(i32::try_from(exponent).unwrap_or(0))
}

/// Splits an integer above zero into a float from 0.5 below 1 and the power of two that it is multiplied with.
pub(super) fn split_exponent(value: &BigInt) -> (f64, f64) {
    let bits = value.bits();
    let dropped = bits.saturating_sub(64);
    let sticky = value.magnitude().trailing_zeros().is_some_and(|zeros| zeros < dropped);
    let top = (value.magnitude() >> dropped).to_u64().unwrap_or(u64::MAX) | u64::from(sticky);
    #[allow(clippy::cast_precision_loss, reason = "rounding to a float is the purpose")]
    let (mut fraction, mut exponent) = (top as f64 * two_to(-i64::try_from(bits - dropped).unwrap_or(0)), bits as f64);
    if fraction >= 1.0 {
        fraction /= 2.0;
        exponent += 1.0;
    }
    (fraction, exponent)
}

/// `round(x)` and `round(x, places)`, half to even.
pub(super) fn round(value: &Number, places: Option<&Number>) -> Outcome {
    let Some(places) = places else {
        return match value {
            Int(value) => Ok(Int(value.clone())),
            Real(value) => whole(value.round_ties_even()),
        };
    };
    let places = places.to_integer()?;
    let far = if places.is_negative() { i32::MIN } else { i32::MAX };
    let places = places.to_i32().unwrap_or(far);
    match value {
        Int(value) if places >= 0 => Ok(Int(value.clone())),
        // Half of ten to the power of one more than all the digits is above every integer.
        Int(_) if places.unsigned_abs() > MAX_DIGITS => Ok(Int(BigInt::zero())),
        Int(value) => {
            let unit = BigInt::from(10).pow(places.unsigned_abs());
            integer(nearest(value, &unit) * unit)
        }
        Real(value) => round_real(*value, places),
    }
}

/// Rounds the exact value of a float to decimal places, then takes the float nearest to that.
fn round_real(value: f64, places: i32) -> Outcome {
    if places > 323 {
        return Ok(Real(value));
    }
    if places < -308 {
        return Ok(Real(0.0.copysign(value)));
    }
    let (mantissa, exponent, _) = Float::integer_decode(value);
    let scale = |positive: bool| {
        let ten = if (places >= 0) == positive { places.unsigned_abs() } else { 0 };
        let two = if (exponent >= 0) == positive { exponent.unsigned_abs() } else { 0 };
        BigInt::from(10).pow(ten) << two
    };
    let rounded = nearest(&(BigInt::from(mantissa) * scale(true)), &scale(false));
    let rounded: f64 = format!("{rounded}e{}", -places).parse().map_err(|_| DOMAIN)?;
    real(rounded.copysign(value))
}

/// The integer nearest to a quotient, half to even. The divisor is above zero.
fn nearest(value: &BigInt, divisor: &BigInt) -> BigInt {
    let (floor, rest) = value.div_mod_floor(divisor);
    match (rest * 2_u32).cmp(divisor) {
        Ordering::Less => floor,
        Ordering::Equal if floor.is_even() => floor,
        _ => floor + 1_u32,
    }
}

/// The greatest common divisor of two integers that are not negative, by Lehmer's method:
/// the leading bits tell many steps of Euclid's at once, which the whole integers then take together.
pub(super) fn gcd(left: BigInt, right: BigInt) -> BigInt {
    let (mut left, mut right) = if left < right { (right, left) } else { (left, right) };
    while right.bits() > 64 {
        let dropped = left.bits() - 62;
        let leading = |value: &BigInt| (value >> dropped).to_i128().unwrap_or(0);
        let (mut high, mut low) = (leading(&left), leading(&right));
        let (mut a, mut b, mut c, mut d) = (1_i128, 0_i128, 0_i128, 1_i128);
        while low + c != 0 && low + d != 0 {
            let steps = (high + a) / (low + c);
            if steps != (high + b) / (low + d) {
                break;
            }
            (a, c) = (c, a - steps * c);
            (b, d) = (d, b - steps * d);
            (high, low) = (low, high - steps * low);
        }
        (left, right) = if b == 0 {
            let rest = &left % &right;
            (right, rest)
        } else {
            (&left * a + &right * b, left * c + right * d)
        };
    }
    if right.is_zero() {
        return left;
    }
    let rest = left % &right;
    right.gcd(&rest)
}
