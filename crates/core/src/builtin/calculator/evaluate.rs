//! The finished tree, and its walk by `evalexpr`.
//!
//! Every operator and function is a function call of ours, so none of `evalexpr`'s own arithmetic takes part.
//! Its integers are 64-bit, so they are only handles into the number store of one evaluation.

use super::error::CalcError;
use super::functions;
use super::number::Number;
use evalexpr::{Context, EvalexprError, EvalexprResult, Node, Operator, Value};
use std::cell::RefCell;

const BROKEN: CalcError = CalcError::failed("internal error");

/// A tree under construction, then the whole of it with its numbers.
pub(super) struct Tree {
    /// A node without children: the current root, and the pattern of all others, since nodes cannot be made from nothing.
    root: Node,
    numbers: Vec<Number>,
}

impl Tree {
    pub(super) fn new() -> Result<Self, CalcError> {
        let root = evalexpr::build_operator_tree("").map_err(|_| BROKEN)?;
        Ok(Self { root, numbers: Vec::new() })
    }

    pub(super) fn number(&mut self, value: Number) -> Result<Node, CalcError> {
        let handle = i64::try_from(self.numbers.len()).map_err(|_| BROKEN)?;
        self.numbers.push(value);
        Ok(self.node(Operator::Const { value: Value::Int(handle) }, Vec::new()))
    }

    /// A call of one of [`functions::apply`]'s functions.
    pub(super) fn call(&self, function: &str, arguments: Vec<Node>) -> Node {
        let arguments = self.node(Operator::Tuple, arguments);
        self.node(Operator::FunctionIdentifier { identifier: function.to_owned() }, vec![arguments])
    }

    pub(super) fn with_root(self, root: Node) -> Self {
        Self { root, ..self }
    }

    fn node(&self, operator: Operator, children: Vec<Node>) -> Node {
        let mut node = self.root.clone();
        *node.operator_mut() = operator;
        *node.children_mut() = children;
        node
    }

    pub(super) fn evaluate(self) -> Result<Number, CalcError> {
        let store = Store { numbers: RefCell::new(self.numbers), failure: RefCell::new(None) };
        let result = self.root.eval_with_context(&store);
        if let Some(failure) = store.failure.into_inner() {
            return Err(failure);
        }
        let numbers = store.numbers.into_inner();
        result.ok().and_then(|handle| find(&numbers, &handle).cloned()).ok_or(BROKEN)
    }
}

/// The numbers of one evaluation: literals first, then each result in the order of its computation.
struct Store {
    numbers: RefCell<Vec<Number>>,
    failure: RefCell<Option<CalcError>>,
}

impl Store {
    fn call(&self, function: &str, handles: &Value) -> Result<Value, CalcError> {
        let Value::Tuple(handles) = handles else { return Err(BROKEN) };
        let mut numbers = self.numbers.borrow_mut();
        let arguments: Option<Vec<&Number>> = handles.iter().map(|handle| find(&numbers, handle)).collect();
        let result = functions::apply(function, &arguments.ok_or(BROKEN)?)?;
        let handle = i64::try_from(numbers.len()).map_err(|_| BROKEN)?;
        numbers.push(result);
        Ok(Value::Int(handle))
    }
}

fn find<'a>(numbers: &'a [Number], handle: &Value) -> Option<&'a Number> {
    let Value::Int(handle) = handle else { return None };
    numbers.get(usize::try_from(*handle).ok()?)
}

impl Context for Store {
    fn get_value(&self, _identifier: &str) -> Option<&Value> {
        None
    }

    fn call_function(&self, identifier: &str, argument: &Value) -> EvalexprResult<Value> {
        self.call(identifier, argument).map_err(|failure| {
            self.failure.replace(Some(failure));
            EvalexprError::CustomMessage(String::new())
        })
    }

    fn are_builtin_functions_disabled(&self) -> bool {
        true
    }

    fn set_builtin_functions_disabled(&mut self, _disabled: bool) -> EvalexprResult<()> {
        Err(EvalexprError::BuiltinFunctionsCannotBeEnabled)
    }
}
