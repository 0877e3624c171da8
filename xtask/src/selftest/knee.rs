//! placeholder until drome sweep is there
use super::Drome;
use anyhow::Result;
pub fn measure(_drome: &Drome) -> Result<String> {
    anyhow::bail!("no sweep yet")
}
