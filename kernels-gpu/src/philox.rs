//! philox
