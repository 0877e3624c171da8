//! The lab: from a study to findings. It starts servers, has the load engine drive them, keeps what was
//! observed and says what it means. It formats nothing for people.

pub mod verdict;
