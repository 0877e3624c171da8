//! What a request must get past before a page is built for it: the limits on connections, the access control, and the
//! limits on bodies.

pub mod body;
pub mod connections;
pub mod guard;
