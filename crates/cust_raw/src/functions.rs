// Written by generate.py from cust_raw 0.11.3 (bindgen 0.58.1, cuda.h 11.4). Do not edit.

use crate::types::*;

crate::results! {
    CUDA_SUCCESS,
    CUDA_ERROR_INVALID_VALUE,
    CUDA_ERROR_OUT_OF_MEMORY,
    CUDA_ERROR_NOT_INITIALIZED,
    CUDA_ERROR_DEINITIALIZED,
    CUDA_ERROR_PROFILER_DISABLED,
    CUDA_ERROR_PROFILER_NOT_INITIALIZED,
    CUDA_ERROR_PROFILER_ALREADY_STARTED,
    CUDA_ERROR_PROFILER_ALREADY_STOPPED,
    CUDA_ERROR_STUB_LIBRARY,
    CUDA_ERROR_NO_DEVICE,
    CUDA_ERROR_INVALID_DEVICE,
    CUDA_ERROR_DEVICE_NOT_LICENSED,
    CUDA_ERROR_INVALID_IMAGE,
    CUDA_ERROR_INVALID_CONTEXT,
    CUDA_ERROR_CONTEXT_ALREADY_CURRENT,
    CUDA_ERROR_MAP_FAILED,
    CUDA_ERROR_UNMAP_FAILED,
    CUDA_ERROR_ARRAY_IS_MAPPED,
    CUDA_ERROR_ALREADY_MAPPED,
    CUDA_ERROR_NO_BINARY_FOR_GPU,
    CUDA_ERROR_ALREADY_ACQUIRED,
    CUDA_ERROR_NOT_MAPPED,
    CUDA_ERROR_NOT_MAPPED_AS_ARRAY,
    CUDA_ERROR_NOT_MAPPED_AS_POINTER,
    CUDA_ERROR_ECC_UNCORRECTABLE,
    CUDA_ERROR_UNSUPPORTED_LIMIT,
    CUDA_ERROR_CONTEXT_ALREADY_IN_USE,
    CUDA_ERROR_PEER_ACCESS_UNSUPPORTED,
    CUDA_ERROR_INVALID_PTX,
    CUDA_ERROR_INVALID_GRAPHICS_CONTEXT,
    CUDA_ERROR_NVLINK_UNCORRECTABLE,
    CUDA_ERROR_JIT_COMPILER_NOT_FOUND,
    CUDA_ERROR_UNSUPPORTED_PTX_VERSION,
    CUDA_ERROR_JIT_COMPILATION_DISABLED,
    CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY,
    CUDA_ERROR_INVALID_SOURCE,
    CUDA_ERROR_FILE_NOT_FOUND,
    CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND,
    CUDA_ERROR_SHARED_OBJECT_INIT_FAILED,
    CUDA_ERROR_OPERATING_SYSTEM,
    CUDA_ERROR_INVALID_HANDLE,
    CUDA_ERROR_ILLEGAL_STATE,
    CUDA_ERROR_NOT_FOUND,
    CUDA_ERROR_NOT_READY,
    CUDA_ERROR_ILLEGAL_ADDRESS,
    CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES,
    CUDA_ERROR_LAUNCH_TIMEOUT,
    CUDA_ERROR_LAUNCH_INCOMPATIBLE_TEXTURING,
    CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED,
    CUDA_ERROR_PEER_ACCESS_NOT_ENABLED,
    CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE,
    CUDA_ERROR_CONTEXT_IS_DESTROYED,
    CUDA_ERROR_ASSERT,
    CUDA_ERROR_TOO_MANY_PEERS,
    CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED,
    CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED,
    CUDA_ERROR_HARDWARE_STACK_ERROR,
    CUDA_ERROR_ILLEGAL_INSTRUCTION,
    CUDA_ERROR_MISALIGNED_ADDRESS,
    CUDA_ERROR_INVALID_ADDRESS_SPACE,
    CUDA_ERROR_INVALID_PC,
    CUDA_ERROR_LAUNCH_FAILED,
    CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE,
    CUDA_ERROR_NOT_PERMITTED,
    CUDA_ERROR_NOT_SUPPORTED,
    CUDA_ERROR_SYSTEM_NOT_READY,
    CUDA_ERROR_SYSTEM_DRIVER_MISMATCH,
    CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE,
    CUDA_ERROR_MPS_CONNECTION_FAILED,
    CUDA_ERROR_MPS_RPC_FAILURE,
    CUDA_ERROR_MPS_SERVER_NOT_READY,
    CUDA_ERROR_MPS_MAX_CLIENTS_REACHED,
    CUDA_ERROR_MPS_MAX_CONNECTIONS_REACHED,
    CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
    CUDA_ERROR_STREAM_CAPTURE_INVALIDATED,
    CUDA_ERROR_STREAM_CAPTURE_MERGE,
    CUDA_ERROR_STREAM_CAPTURE_UNMATCHED,
    CUDA_ERROR_STREAM_CAPTURE_UNJOINED,
    CUDA_ERROR_STREAM_CAPTURE_ISOLATION,
    CUDA_ERROR_STREAM_CAPTURE_IMPLICIT,
    CUDA_ERROR_CAPTURED_EVENT,
    CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD,
    CUDA_ERROR_TIMEOUT,
    CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE,
    CUDA_ERROR_EXTERNAL_DEVICE,
    CUDA_ERROR_UNKNOWN,
}

crate::driver_functions! {
    #[symbol = "cuArray3DCreate_v2"]
    fn cuArray3DCreate_v2( pHandle: *mut CUarray, pAllocateArray: *const CUDA_ARRAY3D_DESCRIPTOR) -> CUresult;
    #[symbol = "cuArray3DGetDescriptor_v2"]
    fn cuArray3DGetDescriptor_v2( pArrayDescriptor: *mut CUDA_ARRAY3D_DESCRIPTOR, hArray: CUarray) -> CUresult;
    #[symbol = "cuArrayDestroy"]
    fn cuArrayDestroy(hArray: CUarray) -> CUresult;
    #[symbol = "cuCtxCreate_v2"]
    fn cuCtxCreate_v2( pctx: *mut CUcontext, flags: ::core::ffi::c_uint, dev: CUdevice) -> CUresult;
    #[symbol = "cuCtxDestroy_v2"]
    fn cuCtxDestroy_v2(ctx: CUcontext) -> CUresult;
    #[symbol = "cuCtxGetApiVersion"]
    fn cuCtxGetApiVersion(ctx: CUcontext, version: *mut ::core::ffi::c_uint) -> CUresult;
    #[symbol = "cuCtxGetCacheConfig"]
    fn cuCtxGetCacheConfig(pconfig: *mut CUfunc_cache) -> CUresult;
    #[symbol = "cuCtxGetCurrent"]
    fn cuCtxGetCurrent(pctx: *mut CUcontext) -> CUresult;
    #[symbol = "cuCtxGetDevice"]
    fn cuCtxGetDevice(device: *mut CUdevice) -> CUresult;
    #[symbol = "cuCtxGetFlags"]
    fn cuCtxGetFlags(flags: *mut ::core::ffi::c_uint) -> CUresult;
    #[symbol = "cuCtxGetLimit"]
    fn cuCtxGetLimit(pvalue: *mut usize, limit: CUlimit) -> CUresult;
    #[symbol = "cuCtxGetSharedMemConfig"]
    fn cuCtxGetSharedMemConfig(pConfig: *mut CUsharedconfig) -> CUresult;
    #[symbol = "cuCtxGetStreamPriorityRange"]
    fn cuCtxGetStreamPriorityRange( leastPriority: *mut ::core::ffi::c_int, greatestPriority: *mut ::core::ffi::c_int) -> CUresult;
    #[symbol = "cuCtxPopCurrent_v2"]
    fn cuCtxPopCurrent_v2(pctx: *mut CUcontext) -> CUresult;
    #[symbol = "cuCtxPushCurrent_v2"]
    fn cuCtxPushCurrent_v2(ctx: CUcontext) -> CUresult;
    #[symbol = "cuCtxSetCacheConfig"]
    fn cuCtxSetCacheConfig(config: CUfunc_cache) -> CUresult;
    #[symbol = "cuCtxSetCurrent"]
    fn cuCtxSetCurrent(ctx: CUcontext) -> CUresult;
    #[symbol = "cuCtxSetLimit"]
    fn cuCtxSetLimit(limit: CUlimit, value: usize) -> CUresult;
    #[symbol = "cuCtxSetSharedMemConfig"]
    fn cuCtxSetSharedMemConfig(config: CUsharedconfig) -> CUresult;
    #[symbol = "cuCtxSynchronize"]
    fn cuCtxSynchronize() -> CUresult;
    #[symbol = "cuDestroyExternalMemory"]
    fn cuDestroyExternalMemory(extMem: CUexternalMemory) -> CUresult;
    #[symbol = "cuDeviceGet"]
    fn cuDeviceGet(device: *mut CUdevice, ordinal: ::core::ffi::c_int) -> CUresult;
    #[symbol = "cuDeviceGetAttribute"]
    fn cuDeviceGetAttribute( pi: *mut ::core::ffi::c_int, attrib: CUdevice_attribute, dev: CUdevice) -> CUresult;
    #[symbol = "cuDeviceGetCount"]
    fn cuDeviceGetCount(count: *mut ::core::ffi::c_int) -> CUresult;
    #[symbol = "cuDeviceGetName"]
    fn cuDeviceGetName( name: *mut ::core::ffi::c_char, len: ::core::ffi::c_int, dev: CUdevice) -> CUresult;
    #[symbol = "cuDeviceGetPCIBusId"]
    fn cuDeviceGetPCIBusId( pciBusId: *mut ::core::ffi::c_char, len: ::core::ffi::c_int, dev: CUdevice) -> CUresult;
    #[symbol = "cuDeviceGetUuid_v2"]
    fn cuDeviceGetUuid_v2(uuid: *mut CUuuid, dev: CUdevice) -> CUresult;
    #[symbol = "cuDevicePrimaryCtxRelease_v2"]
    fn cuDevicePrimaryCtxRelease_v2(dev: CUdevice) -> CUresult;
    #[symbol = "cuDevicePrimaryCtxReset_v2"]
    fn cuDevicePrimaryCtxReset_v2(dev: CUdevice) -> CUresult;
    #[symbol = "cuDevicePrimaryCtxRetain"]
    fn cuDevicePrimaryCtxRetain(pctx: *mut CUcontext, dev: CUdevice) -> CUresult;
    #[symbol = "cuDevicePrimaryCtxSetFlags_v2"]
    fn cuDevicePrimaryCtxSetFlags_v2(dev: CUdevice, flags: ::core::ffi::c_uint) -> CUresult;
    #[symbol = "cuDeviceTotalMem_v2"]
    fn cuDeviceTotalMem_v2(bytes: *mut usize, dev: CUdevice) -> CUresult;
    #[symbol = "cuDriverGetVersion"]
    fn cuDriverGetVersion(driverVersion: *mut ::core::ffi::c_int) -> CUresult;
    #[symbol = "cuEventCreate"]
    fn cuEventCreate(phEvent: *mut CUevent, Flags: ::core::ffi::c_uint) -> CUresult;
    #[symbol = "cuEventDestroy_v2"]
    fn cuEventDestroy_v2(hEvent: CUevent) -> CUresult;
    #[symbol = "cuEventElapsedTime"]
    fn cuEventElapsedTime(pMilliseconds: *mut f32, hStart: CUevent, hEnd: CUevent) -> CUresult;
    #[symbol = "cuEventQuery"]
    fn cuEventQuery(hEvent: CUevent) -> CUresult;
    #[symbol = "cuEventRecord"]
    fn cuEventRecord(hEvent: CUevent, hStream: CUstream) -> CUresult;
    #[symbol = "cuEventSynchronize"]
    fn cuEventSynchronize(hEvent: CUevent) -> CUresult;
    #[symbol = "cuExternalMemoryGetMappedBuffer"]
    fn cuExternalMemoryGetMappedBuffer( devPtr: *mut CUdeviceptr, extMem: CUexternalMemory, bufferDesc: *const CUDA_EXTERNAL_MEMORY_BUFFER_DESC) -> CUresult;
    #[symbol = "cuFuncGetAttribute"]
    fn cuFuncGetAttribute( pi: *mut ::core::ffi::c_int, attrib: CUfunction_attribute, hfunc: CUfunction) -> CUresult;
    #[symbol = "cuFuncSetAttribute"]
    fn cuFuncSetAttribute( hfunc: CUfunction, attrib: CUfunction_attribute, value: ::core::ffi::c_int) -> CUresult;
    #[symbol = "cuFuncSetCacheConfig"]
    fn cuFuncSetCacheConfig(hfunc: CUfunction, config: CUfunc_cache) -> CUresult;
    #[symbol = "cuFuncSetSharedMemConfig"]
    fn cuFuncSetSharedMemConfig(hfunc: CUfunction, config: CUsharedconfig) -> CUresult;
    #[symbol = "cuGetErrorName"]
    fn cuGetErrorName(error: CUresult, pStr: *mut *const ::core::ffi::c_char) -> CUresult;
    #[symbol = "cuGetErrorString"]
    fn driver_error_string(error: CUresult, pStr: *mut *const ::core::ffi::c_char) -> CUresult;
    #[symbol = "cuGraphAddKernelNode"]
    fn cuGraphAddKernelNode( phGraphNode: *mut CUgraphNode, hGraph: CUgraph, dependencies: *const CUgraphNode, numDependencies: usize, nodeParams: *const CUDA_KERNEL_NODE_PARAMS) -> CUresult;
    #[symbol = "cuGraphCreate"]
    fn cuGraphCreate(phGraph: *mut CUgraph, flags: ::core::ffi::c_uint) -> CUresult;
    #[symbol = "cuGraphDebugDotPrint"]
    fn cuGraphDebugDotPrint( hGraph: CUgraph, path: *const ::core::ffi::c_char, flags: ::core::ffi::c_uint) -> CUresult;
    #[symbol = "cuGraphDestroy"]
    fn cuGraphDestroy(hGraph: CUgraph) -> CUresult;
    #[symbol = "cuGraphExecDestroy"]
    fn cuGraphExecDestroy(hGraphExec: CUgraphExec) -> CUresult;
    #[symbol = "cuGraphGetEdges"]
    fn cuGraphGetEdges( hGraph: CUgraph, from: *mut CUgraphNode, to: *mut CUgraphNode, numEdges: *mut usize) -> CUresult;
    #[symbol = "cuGraphGetNodes"]
    fn cuGraphGetNodes( hGraph: CUgraph, nodes: *mut CUgraphNode, numNodes: *mut usize) -> CUresult;
    #[symbol = "cuGraphInstantiateWithFlags"]
    fn cuGraphInstantiateWithFlags( phGraphExec: *mut CUgraphExec, hGraph: CUgraph, flags: ::core::ffi::c_ulonglong) -> CUresult;
    #[symbol = "cuGraphKernelNodeGetParams"]
    fn cuGraphKernelNodeGetParams( hNode: CUgraphNode, nodeParams: *mut CUDA_KERNEL_NODE_PARAMS) -> CUresult;
    #[symbol = "cuGraphLaunch"]
    fn cuGraphLaunch(hGraphExec: CUgraphExec, hStream: CUstream) -> CUresult;
    #[symbol = "cuGraphNodeGetType"]
    fn cuGraphNodeGetType(hNode: CUgraphNode, type_: *mut CUgraphNodeType) -> CUresult;
    #[symbol = "cuGraphUpload"]
    fn cuGraphUpload(hGraphExec: CUgraphExec, hStream: CUstream) -> CUresult;
    #[symbol = "cuImportExternalMemory"]
    fn cuImportExternalMemory( extMem_out: *mut CUexternalMemory, memHandleDesc: *const CUDA_EXTERNAL_MEMORY_HANDLE_DESC) -> CUresult;
    #[symbol = "cuInit"]
    fn cuInit(Flags: ::core::ffi::c_uint) -> CUresult;
    #[symbol = "cuLaunchHostFunc"]
    fn cuLaunchHostFunc( hStream: CUstream, fn_: CUhostFn, userData: *mut ::core::ffi::c_void) -> CUresult;
    #[symbol = "cuLaunchKernel"]
    fn cuLaunchKernel( f: CUfunction, gridDimX: ::core::ffi::c_uint, gridDimY: ::core::ffi::c_uint, gridDimZ: ::core::ffi::c_uint, blockDimX: ::core::ffi::c_uint, blockDimY: ::core::ffi::c_uint, blockDimZ: ::core::ffi::c_uint, sharedMemBytes: ::core::ffi::c_uint, hStream: CUstream, kernelParams: *mut *mut ::core::ffi::c_void, extra: *mut *mut ::core::ffi::c_void) -> CUresult;
    #[symbol = "cuLinkAddData_v2"]
    fn cuLinkAddData_v2( state: CUlinkState, type_: CUjitInputType, data: *mut ::core::ffi::c_void, size: usize, name: *const ::core::ffi::c_char, numOptions: ::core::ffi::c_uint, options: *mut CUjit_option, optionValues: *mut *mut ::core::ffi::c_void) -> CUresult;
    #[symbol = "cuLinkComplete"]
    fn cuLinkComplete( state: CUlinkState, cubinOut: *mut *mut ::core::ffi::c_void, sizeOut: *mut usize) -> CUresult;
    #[symbol = "cuLinkCreate_v2"]
    fn cuLinkCreate_v2( numOptions: ::core::ffi::c_uint, options: *mut CUjit_option, optionValues: *mut *mut ::core::ffi::c_void, stateOut: *mut CUlinkState) -> CUresult;
    #[symbol = "cuLinkDestroy"]
    fn cuLinkDestroy(state: CUlinkState) -> CUresult;
    #[symbol = "cuMemAdvise"]
    fn cuMemAdvise( devPtr: CUdeviceptr, count: usize, advice: CUmem_advise, device: CUdevice) -> CUresult;
    #[symbol = "cuMemAllocAsync"]
    fn cuMemAllocAsync(dptr: *mut CUdeviceptr, bytesize: usize, hStream: CUstream) -> CUresult;
    #[symbol = "cuMemAllocHost_v2"]
    fn cuMemAllocHost_v2(pp: *mut *mut ::core::ffi::c_void, bytesize: usize) -> CUresult;
    #[symbol = "cuMemAllocManaged"]
    fn cuMemAllocManaged( dptr: *mut CUdeviceptr, bytesize: usize, flags: ::core::ffi::c_uint) -> CUresult;
    #[symbol = "cuMemAlloc_v2"]
    fn cuMemAlloc_v2(dptr: *mut CUdeviceptr, bytesize: usize) -> CUresult;
    #[symbol = "cuMemFreeAsync"]
    fn cuMemFreeAsync(dptr: CUdeviceptr, hStream: CUstream) -> CUresult;
    #[symbol = "cuMemFreeHost"]
    fn cuMemFreeHost(p: *mut ::core::ffi::c_void) -> CUresult;
    #[symbol = "cuMemFree_v2"]
    fn cuMemFree_v2(dptr: CUdeviceptr) -> CUresult;
    #[symbol = "cuMemGetInfo_v2"]
    fn cuMemGetInfo_v2(free: *mut usize, total: *mut usize) -> CUresult;
    #[symbol = "cuMemHostAlloc"]
    fn cuMemHostAlloc( pp: *mut *mut ::core::ffi::c_void, bytesize: usize, Flags: ::core::ffi::c_uint) -> CUresult;
    #[symbol = "cuMemPrefetchAsync"]
    fn cuMemPrefetchAsync( devPtr: CUdeviceptr, count: usize, dstDevice: CUdevice, hStream: CUstream) -> CUresult;
    #[symbol = "cuMemcpy2D_v2"]
    fn cuMemcpy2D_v2(pCopy: *const CUDA_MEMCPY2D) -> CUresult;
    #[symbol = "cuMemcpyAtoH_v2"]
    fn cuMemcpyAtoH_v2( dstHost: *mut ::core::ffi::c_void, srcArray: CUarray, srcOffset: usize, ByteCount: usize) -> CUresult;
    #[symbol = "cuMemcpyDtoDAsync_v2"]
    fn cuMemcpyDtoDAsync_v2( dstDevice: CUdeviceptr, srcDevice: CUdeviceptr, ByteCount: usize, hStream: CUstream) -> CUresult;
    #[symbol = "cuMemcpyDtoD_v2"]
    fn cuMemcpyDtoD_v2( dstDevice: CUdeviceptr, srcDevice: CUdeviceptr, ByteCount: usize) -> CUresult;
    #[symbol = "cuMemcpyDtoHAsync_v2"]
    fn cuMemcpyDtoHAsync_v2( dstHost: *mut ::core::ffi::c_void, srcDevice: CUdeviceptr, ByteCount: usize, hStream: CUstream) -> CUresult;
    #[symbol = "cuMemcpyDtoH_v2"]
    fn cuMemcpyDtoH_v2( dstHost: *mut ::core::ffi::c_void, srcDevice: CUdeviceptr, ByteCount: usize) -> CUresult;
    #[symbol = "cuMemcpyHtoA_v2"]
    fn cuMemcpyHtoA_v2( dstArray: CUarray, dstOffset: usize, srcHost: *const ::core::ffi::c_void, ByteCount: usize) -> CUresult;
    #[symbol = "cuMemcpyHtoDAsync_v2"]
    fn cuMemcpyHtoDAsync_v2( dstDevice: CUdeviceptr, srcHost: *const ::core::ffi::c_void, ByteCount: usize, hStream: CUstream) -> CUresult;
    #[symbol = "cuMemcpyHtoD_v2"]
    fn cuMemcpyHtoD_v2( dstDevice: CUdeviceptr, srcHost: *const ::core::ffi::c_void, ByteCount: usize) -> CUresult;
    #[symbol = "cuMemsetD16Async"]
    fn cuMemsetD16Async( dstDevice: CUdeviceptr, us: ::core::ffi::c_ushort, N: usize, hStream: CUstream) -> CUresult;
    #[symbol = "cuMemsetD16_v2"]
    fn cuMemsetD16_v2( dstDevice: CUdeviceptr, us: ::core::ffi::c_ushort, N: usize) -> CUresult;
    #[symbol = "cuMemsetD32Async"]
    fn cuMemsetD32Async( dstDevice: CUdeviceptr, ui: ::core::ffi::c_uint, N: usize, hStream: CUstream) -> CUresult;
    #[symbol = "cuMemsetD32_v2"]
    fn cuMemsetD32_v2(dstDevice: CUdeviceptr, ui: ::core::ffi::c_uint, N: usize) -> CUresult;
    #[symbol = "cuMemsetD8Async"]
    fn cuMemsetD8Async( dstDevice: CUdeviceptr, uc: ::core::ffi::c_uchar, N: usize, hStream: CUstream) -> CUresult;
    #[symbol = "cuMemsetD8_v2"]
    fn cuMemsetD8_v2(dstDevice: CUdeviceptr, uc: ::core::ffi::c_uchar, N: usize) -> CUresult;
    #[symbol = "cuModuleGetFunction"]
    fn cuModuleGetFunction( hfunc: *mut CUfunction, hmod: CUmodule, name: *const ::core::ffi::c_char) -> CUresult;
    #[symbol = "cuModuleGetGlobal_v2"]
    fn cuModuleGetGlobal_v2( dptr: *mut CUdeviceptr, bytes: *mut usize, hmod: CUmodule, name: *const ::core::ffi::c_char) -> CUresult;
    #[symbol = "cuModuleLoad"]
    fn cuModuleLoad(module: *mut CUmodule, fname: *const ::core::ffi::c_char) -> CUresult;
    #[symbol = "cuModuleLoadData"]
    fn cuModuleLoadData( module: *mut CUmodule, image: *const ::core::ffi::c_void) -> CUresult;
    #[symbol = "cuModuleLoadDataEx"]
    fn cuModuleLoadDataEx( module: *mut CUmodule, image: *const ::core::ffi::c_void, numOptions: ::core::ffi::c_uint, options: *mut CUjit_option, optionValues: *mut *mut ::core::ffi::c_void) -> CUresult;
    #[symbol = "cuModuleUnload"]
    fn cuModuleUnload(hmod: CUmodule) -> CUresult;
    #[symbol = "cuOccupancyAvailableDynamicSMemPerBlock"]
    fn cuOccupancyAvailableDynamicSMemPerBlock( dynamicSmemSize: *mut usize, func: CUfunction, numBlocks: ::core::ffi::c_int, blockSize: ::core::ffi::c_int) -> CUresult;
    #[symbol = "cuOccupancyMaxActiveBlocksPerMultiprocessor"]
    fn cuOccupancyMaxActiveBlocksPerMultiprocessor( numBlocks: *mut ::core::ffi::c_int, func: CUfunction, blockSize: ::core::ffi::c_int, dynamicSMemSize: usize) -> CUresult;
    #[symbol = "cuOccupancyMaxPotentialBlockSize"]
    fn cuOccupancyMaxPotentialBlockSize( minGridSize: *mut ::core::ffi::c_int, blockSize: *mut ::core::ffi::c_int, func: CUfunction, blockSizeToDynamicSMemSize: CUoccupancyB2DSize, dynamicSMemSize: usize, blockSizeLimit: ::core::ffi::c_int) -> CUresult;
    #[symbol = "cuStreamBeginCapture_v2"]
    fn cuStreamBeginCapture_v2(hStream: CUstream, mode: CUstreamCaptureMode) -> CUresult;
    #[symbol = "cuStreamCreateWithPriority"]
    fn cuStreamCreateWithPriority( phStream: *mut CUstream, flags: ::core::ffi::c_uint, priority: ::core::ffi::c_int) -> CUresult;
    #[symbol = "cuStreamDestroy_v2"]
    fn cuStreamDestroy_v2(hStream: CUstream) -> CUresult;
    #[symbol = "cuStreamEndCapture"]
    fn cuStreamEndCapture(hStream: CUstream, phGraph: *mut CUgraph) -> CUresult;
    #[symbol = "cuStreamGetFlags"]
    fn cuStreamGetFlags(hStream: CUstream, flags: *mut ::core::ffi::c_uint) -> CUresult;
    #[symbol = "cuStreamGetPriority"]
    fn cuStreamGetPriority(hStream: CUstream, priority: *mut ::core::ffi::c_int) -> CUresult;
    #[symbol = "cuStreamIsCapturing"]
    fn cuStreamIsCapturing( hStream: CUstream, captureStatus: *mut CUstreamCaptureStatus) -> CUresult;
    #[symbol = "cuStreamQuery"]
    fn cuStreamQuery(hStream: CUstream) -> CUresult;
    #[symbol = "cuStreamSynchronize"]
    fn cuStreamSynchronize(hStream: CUstream) -> CUresult;
    #[symbol = "cuStreamWaitEvent"]
    fn cuStreamWaitEvent( hStream: CUstream, hEvent: CUevent, Flags: ::core::ffi::c_uint) -> CUresult;
    #[symbol = "cuSurfObjectCreate"]
    fn cuSurfObjectCreate( pSurfObject: *mut CUsurfObject, pResDesc: *const CUDA_RESOURCE_DESC) -> CUresult;
    #[symbol = "cuSurfObjectDestroy"]
    fn cuSurfObjectDestroy(surfObject: CUsurfObject) -> CUresult;
    #[symbol = "cuSurfObjectGetResourceDesc"]
    fn cuSurfObjectGetResourceDesc( pResDesc: *mut CUDA_RESOURCE_DESC, surfObject: CUsurfObject) -> CUresult;
    #[symbol = "cuTexObjectCreate"]
    fn cuTexObjectCreate( pTexObject: *mut CUtexObject, pResDesc: *const CUDA_RESOURCE_DESC, pTexDesc: *const CUDA_TEXTURE_DESC, pResViewDesc: *const CUDA_RESOURCE_VIEW_DESC) -> CUresult;
    #[symbol = "cuTexObjectDestroy"]
    fn cuTexObjectDestroy(texObject: CUtexObject) -> CUresult;
    #[symbol = "cuTexObjectGetResourceDesc"]
    fn cuTexObjectGetResourceDesc( pResDesc: *mut CUDA_RESOURCE_DESC, texObject: CUtexObject) -> CUresult;
}
