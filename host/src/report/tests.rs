//! The page of small results.
