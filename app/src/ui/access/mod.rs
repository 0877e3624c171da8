//! What a request must get past before a page is built for it: the access control, the limits on bodies, and the wait for a pause
//! of the measurement.

pub mod body;
pub mod entrance;
pub mod rules;
