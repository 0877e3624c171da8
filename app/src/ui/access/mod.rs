//! What a request must get past before a page is built for it: the access control, the limits on bodies, and the wait for its turn.

pub mod body;
pub mod gate;
pub mod guard;
