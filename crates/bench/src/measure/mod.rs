//! Stages of the work, measured together with the limits of the machine.

pub mod check;
pub mod compare;
pub mod rounds;
pub mod plot;
pub mod result;
pub mod stage;
pub mod subject;
pub mod table;
