//! What a caller meets where there is no driver, or a driver that answers oddly.
//!
//! The library is opened once per process, so each case runs in a child: this test binary, started
//! again with a search path that holds no `libcuda.so.1`, or one made here.

use std::path::Path;
use std::process::Command;

/// A driver with one known function, whose code no binding knows, and no error texts.
const ODD_DRIVER: &str = r#"
#[unsafe(no_mangle)] pub extern "C" fn cuInit(_flags: u32) -> i32 { 4242 }
#[unsafe(no_mangle)] pub extern "C" fn cuGetErrorString(_: i32, text: *mut *const u8) -> i32 {
    unsafe { *text = core::ptr::null() };
    1
}
"#;

fn in_child(case: &str, search: &Path) {
    let test = std::env::current_exe().expect("a test knows its own path");
    let output = Command::new(test)
        .args([case, "--exact", "--ignored", "--nocapture"])
        .env("LD_LIBRARY_PATH", search)
        .output()
        .expect("this test binary starts again");
    let text = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && text.contains("1 passed"), "{text}\n{errors}");
}

#[test]
fn an_unknown_code_becomes_999_and_errors_have_text() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("odd.rs");
    std::fs::write(&source, ODD_DRIVER).unwrap();
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let built = Command::new(rustc)
        .args(["--edition=2024", "--crate-type=cdylib", "-Cpanic=abort", "-o"])
        .arg(folder.path().join("libcuda.so.1"))
        .arg(&source)
        .status()
        .unwrap();
    assert!(built.success());
    in_child("child_odd_driver", folder.path());
}

#[test]
#[ignore = "run by an_unknown_code_becomes_999_and_errors_have_text"]
fn child_odd_driver() {
    // Through cust: its enum would hold 4242 otherwise.
    let error = cust::init(cust::CudaFlags::empty()).unwrap_err();
    assert_eq!(error, cust::error::CudaError::UnknownError);
    // `to_string` panics where the driver's own answer is passed on.
    assert!(error.to_string().contains("CUDA_ERROR_UNKNOWN"), "{error}");
    // SAFETY: no pointer is passed.
    let absent = unsafe { cust_raw::cuCtxSynchronize() };
    assert_eq!(absent, cust_raw::CUresult::CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND);
    assert!(cust_raw::driver().is_ok());
}

#[test]
fn no_library_is_no_device() {
    if cust_raw::driver().is_ok() {
        return; // This machine has a driver on the system's own path, which cannot be hidden.
    }
    let error = cust::init(cust::CudaFlags::empty()).unwrap_err();
    assert_eq!(error, cust::error::CudaError::NoDevice);
    assert!(error.to_string().contains("CUDA_ERROR_NO_DEVICE"), "{error}");
    let reason = cust_raw::driver().unwrap_err().to_string();
    assert!(reason.contains("libcuda.so.1"), "{reason}");
}

#[test]
fn every_known_code_keeps_its_value() {
    for code in -10..1_500 {
        let result = cust_raw::result_from_code(code);
        let name = cust_raw::result_name(result).to_str().unwrap();
        if name == "CUDA_ERROR_UNKNOWN" {
            assert_eq!(result as i32, 999);
        } else {
            assert_eq!(result as i32, code);
        }
    }
    assert_eq!(cust_raw::result_from_code(222) as i32, 222);
    assert_eq!(cust_raw::result_from_code(i32::MIN) as i32, 999);
}
