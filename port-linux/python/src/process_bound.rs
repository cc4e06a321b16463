//! A value with threads of this process, which a fork does not have.

use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;

use crate::error::ConnectionFailed;

/// A value with threads of the process that made it. A fork can neither use nor end it.
pub(crate) struct ProcessBound<T: Send> {
    value: Mutex<Option<T>>,
    process: u32,
}

impl<T: Send> ProcessBound<T> {
    /// Binds a value to this process.
    pub(crate) fn new(value: T) -> Self {
        Self { value: Mutex::new(Some(value)), process: std::process::id() }
    }

    /// Locks the value, `None` after it was taken. The error names `what` in a fork.
    pub(crate) fn lock(&self, what: &str) -> PyResult<MutexGuard<'_, Option<T>>> {
        if std::process::id() != self.process {
            let text = format!("{what} belongs to the process that was forked; use the start method \"spawn\"");
            return Err(ConnectionFailed::new_err(text));
        }
        Ok(self.value.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl<T: Send> Drop for ProcessBound<T> {
    fn drop(&mut self) {
        let Some(value) = self.value.get_mut().unwrap_or_else(PoisonError::into_inner).take() else { return };
        if std::process::id() == self.process {
            // Waits for the threads of the value, and no other thread of Python waits with it.
            Python::attach(|py| py.detach(|| drop(value)));
        } else {
            // The threads that would be waited for do not exist here.
            std::mem::forget(value);
        }
    }
}
