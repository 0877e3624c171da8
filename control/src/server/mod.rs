//! A contender's server: started, verified, put under load, watched, stopped.

pub mod any_server;
pub mod inspect;
pub mod instance;
pub mod plan;
pub mod prepare_command;
pub mod remote_controlled;
pub mod starting;
pub mod under_load;
