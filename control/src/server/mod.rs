//! A contender's server: started, verified, put under load, watched, stopped.

pub mod any_server;
pub mod container;
pub mod control_group;
pub mod guard;
pub mod image;
pub mod inspect;
pub mod instance;
pub mod likely_class;
pub mod local;
pub mod origin;
pub mod plan;
pub mod ports;
pub mod prepare_command;
mod removal;
pub mod running;
pub mod starting;
pub mod supervise;
pub mod tree;
pub mod under_load;
pub mod usage;
pub mod verify;
pub mod work;
