/** What the binding of tree-sitter leaves on the object it was started with. */
export interface WasmModule {
  HEAP32?: Int32Array
  setValue?: (address: number, value: number, type?: string) => void
  getValue?: (address: number, type?: string) => number
}

/**
 * Makes access to single integers of the parser's memory quick: each step of a cursor takes eight of them, for which the
 * binding compares names of types and goes through a DataView. That was 40 % of the time of converting a tree. A
 * binding of another form is left as it is.
 */
export const speedUpAccess = (module: WasmModule): void => {
  const { HEAP32, setValue, getValue } = module
  if (!HEAP32 || !setValue || !getValue || !isLittleEndian()) return
  let heap = HEAP32
  /** Memory that grows is another array; the one before is empty then. */
  const current = (): Int32Array => (heap.length > 0 ? heap : (heap = module.HEAP32 ?? heap))
  module.setValue = (address, value, type) => {
    if (type === 'i32') current()[address >> 2] = value
    else setValue(address, value, type)
  }
  module.getValue = (address, type) =>
    type === 'i32' ? (current()[address >> 2] as number) : getValue(address, type)
}

/** As the memory of WebAssembly is everywhere, but not that of arrays. */
const isLittleEndian = (): boolean => new Uint8Array(Uint16Array.of(1).buffer)[0] === 1
