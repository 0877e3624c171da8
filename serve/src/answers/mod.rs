//! What is answered: from requests to bytes, without sockets.

pub(crate) mod date;
pub(crate) mod frames;
pub(crate) mod fresh;
pub(crate) mod head;
pub(crate) mod log;
pub(crate) mod site;
