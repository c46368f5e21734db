//! The operators and functions by name.

use super::error::{CalcError, DOMAIN};
use super::number::{self, Number, Outcome};
use num_bigint::BigInt;
use num_traits::{Signed, ToPrimitive, Zero};
use std::cmp::Ordering;

/// Identifiers of the signs, which a user cannot write as names.
pub(super) const NEGATE: &str = "sign -";
pub(super) const KEEP: &str = "sign +";

/// The factorial of the next integer has more digits than any result may have.
const MAX_FACTORIAL: u32 = 1_500;

enum Body {
    /// Of one float, to a float.
    Real(fn(f64) -> f64),
    One(fn(&Number) -> Outcome),
    Two(fn(&Number, &Number) -> Outcome),
    OneOrTwo(fn(&Number, Option<&Number>) -> Outcome),
    Many(fn(&[&Number]) -> Outcome),
}

const OPERATORS: &[(&str, Body)] = &[
    ("+", Body::Two(number::add)),
    ("-", Body::Two(number::subtract)),
    ("*", Body::Two(number::multiply)),
    ("/", Body::Two(number::divide)),
    ("//", Body::Two(number::floor_divide)),
    ("%", Body::Two(number::modulo)),
    ("**", Body::Two(number::power)),
    (NEGATE, Body::One(number::negate)),
    (KEEP, Body::One(number::keep)),
];

const FUNCTIONS: &[(&str, Body)] = &[
    ("abs", Body::One(number::absolute)),
    ("round", Body::OneOrTwo(number::round)),
    ("sqrt", Body::Real(f64::sqrt)),
    ("exp", Body::Real(f64::exp)),
    ("log", Body::OneOrTwo(log)),
    ("log2", Body::One(|value| logarithm(value, f64::log2))),
    ("log10", Body::One(|value| logarithm(value, f64::log10))),
    ("sin", Body::Real(f64::sin)),
    ("cos", Body::Real(f64::cos)),
    ("tan", Body::Real(f64::tan)),
    ("asin", Body::Real(f64::asin)),
    ("acos", Body::Real(f64::acos)),
    ("atan", Body::Real(f64::atan)),
    ("atan2", Body::Two(|y, x| number::real(y.to_float()?.atan2(x.to_float()?)))),
    ("floor", Body::One(|value| whole(value, f64::floor))),
    ("ceil", Body::One(|value| whole(value, f64::ceil))),
    ("min", Body::Many(|values| extreme("min", values, Ordering::Less))),
    ("max", Body::Many(|values| extreme("max", values, Ordering::Greater))),
    ("factorial", Body::One(factorial)),
    ("gcd", Body::Many(greatest_common_divisor)),
];

/// The function of this name, if it is offered.
pub(super) fn offered(name: &str) -> Option<&'static str> {
    FUNCTIONS.iter().find(|(offered, _)| *offered == name).map(|(offered, _)| *offered)
}

/// Applies an operator or a function.
pub(super) fn apply(name: &str, arguments: &[&Number]) -> Outcome {
    let body = OPERATORS.iter().chain(FUNCTIONS).find(|(known, _)| *known == name).map(|(_, body)| body);
    match (body, arguments) {
        (Some(Body::Real(body)), [value]) => {
            let result = body(value.to_float()?);
            if result.is_nan() { Err(DOMAIN) } else { number::real(result) }
        }
        (Some(Body::One(body)), [value]) => body(value),
        (Some(Body::Two(body)), [left, right]) => body(left, right),
        (Some(Body::OneOrTwo(body)), [value]) => body(value, None),
        (Some(Body::OneOrTwo(body)), [value, second]) => body(value, Some(second)),
        (Some(Body::Many(body)), values) => body(values),
        (Some(Body::Real(_) | Body::One(_)), _) => Err(wrong_count(name, "exactly one argument", arguments)),
        (Some(Body::Two(_)), _) => Err(wrong_count(name, "exactly two arguments", arguments)),
        (Some(Body::OneOrTwo(_)), _) => Err(wrong_count(name, "one or two arguments", arguments)),
        (None, _) => Err(CalcError::BadFunction),
    }
}

fn wrong_count(name: &str, wanted: &str, given: &[&Number]) -> CalcError {
    CalcError::Failed(format!("{name}() takes {wanted} ({} given)", given.len()).into())
}

/// A logarithm that integers beyond a float have too.
fn real_logarithm(value: &Number, function: fn(f64) -> f64) -> Result<f64, CalcError> {
    match value {
        Number::Int(value) if !value.is_positive() => Err(DOMAIN),
        Number::Float(value) if *value <= 0.0 => Err(DOMAIN),
        Number::Int(large) => Ok(value.to_float().map(function).unwrap_or_else(|_| {
            let (fraction, exponent) = number::split_exponent(large);
            function(fraction) + function(2.0) * exponent
        })),
        Number::Float(value) => Ok(function(*value)),
    }
}

fn logarithm(value: &Number, function: fn(f64) -> f64) -> Outcome {
    number::real(real_logarithm(value, function)?)
}

fn log(value: &Number, base: Option<&Number>) -> Outcome {
    let value = real_logarithm(value, f64::ln)?;
    match base {
        None => number::real(value),
        Some(base) => number::divide(&Number::Float(value), &Number::Float(real_logarithm(base, f64::ln)?)),
    }
}

fn whole(value: &Number, direction: fn(f64) -> f64) -> Outcome {
    match value {
        Number::Int(value) => Ok(Number::Int(value.clone())),
        Number::Float(value) => number::whole(direction(*value)),
    }
}

/// The first of the least or greatest values, as it was given.
fn extreme(name: &str, values: &[&Number], wanted: Ordering) -> Outcome {
    let [first, others @ ..] = values else { return Err(wrong_count(name, "two or more arguments", values)) };
    if others.is_empty() {
        return Err(wrong_count(name, "two or more arguments", values));
    }
    let found = others.iter().fold(*first, |best, next| if next.compare(best) == wanted { next } else { best });
    Ok(found.clone())
}

fn factorial(value: &Number) -> Outcome {
    let value = value.to_integer()?;
    if value.is_negative() {
        return Err(CalcError::failed("factorial() not defined for negative values"));
    }
    let value = value.to_u32().filter(|value| *value <= MAX_FACTORIAL).ok_or(CalcError::TooLarge)?;
    // Factors are gathered in machine words, which spares most of the long multiplications.
    let (mut product, mut word) = (BigInt::from(1_u32), 1_u64);
    for factor in 2..=u64::from(value) {
        word = word.checked_mul(factor).unwrap_or_else(|| {
            product *= word;
            factor
        });
    }
    number::integer(product * word)
}

fn greatest_common_divisor(values: &[&Number]) -> Outcome {
    let mut divisor = BigInt::zero();
    for value in values {
        divisor = number::gcd(divisor, value.to_integer()?.abs());
    }
    Ok(Number::Int(divisor))
}
