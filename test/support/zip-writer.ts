import { crc32, deflateRawSync } from 'node:zlib'

/** One entry to write. What is not given is what an honest tool writes; everything may be given wrong. */
export interface EntryForm {
  /** A string is UTF-8, flagged if it is not ASCII; bytes are written as they are, without the flag. */
  name: string | Uint8Array
  data?: string | Uint8Array
  /** 0 (the default) stores, 8 deflates, any other is only declared. */
  method?: number
  /** Packed data in place of what the method gives. */
  packed?: Uint8Array
  /** More general purpose flags. */
  flags?: number
  /** Unix mode with its file type; 0 for none. */
  mode?: number
  /** Attributes of MS-DOS. */
  attributes?: number
  /** The tool's system in the upper byte: 3 is Unix. */
  madeBy?: number
  crc?: number
  bytes?: number
  packedBytes?: number
  comment?: string
  extra?: Uint8Array
  /** Fields of the local header that differ from the directory. */
  local?: Partial<LocalForm>
  /** Sizes behind the data, as streaming tools write them. */
  descriptor?: 'signed' | 'bare' | 'zip64'
  /** Sizes in a zip64 field of the directory. */
  zip64?: boolean
  /** Offset of the local header that the directory states. */
  offset?: number
}

interface LocalForm {
  name: Uint8Array
  flags: number
  method: number
  crc: number
  bytes: number
  packedBytes: number
  extra: Uint8Array
}

/** The records around the entries. */
export interface ZipForm {
  comment?: string | Uint8Array
  /** Data before the first entry. */
  before?: Uint8Array
  /** True when the offsets count the data before; the default. */
  countsBefore?: boolean
  /** Data between the directory and the end record. */
  beforeEnd?: Uint8Array
  after?: Uint8Array
  /** Number of entries in the end record. */
  entries?: number
  disk?: number
  /** A zip64 end record; `needed` leaves the numbers of the plain one open, `spare` repeats them. */
  zip64?: 'needed' | 'spare'
  /** Number of entries in the zip64 end record. */
  zip64Entries?: number
}

/** Writes a zip record by record (APPNOTE 4.3), with each trait that a test needs. */
export const writeZip = (forms: readonly EntryForm[], form: ZipForm = {}): Buffer => {
  const before = form.before ?? Buffer.alloc(0)
  let at = form.countsBefore === false ? 0 : before.length
  const written = forms.map((form) => {
    const entry = writeEntry(form, at)
    at += entry.local.length
    return entry
  })
  const directory = Buffer.concat(written.map((entry) => entry.directory))
  const end = writeEnd({ entries: forms.length, bytes: directory.length, offset: at }, form)
  const locals = written.map((entry) => entry.local)
  return Buffer.concat([before, ...locals, directory, form.beforeEnd ?? Buffer.alloc(0), end])
}

/** Packed data of so many MiB of zeros: 1 GiB in 1 MB, made in a moment. */
export const packZeros = (mebibytes: number): Buffer => {
  // A stream that ends on a byte and is not the last block can be repeated.
  const block = deflateRawSync(Buffer.alloc(1024 * 1024), { finishFlush: 3 })
  return Buffer.concat([...Array.from({ length: mebibytes }, () => block), Buffer.from([3, 0])])
}

const writeEntry = (form: EntryForm, at: number): { local: Buffer; directory: Buffer } => {
  const name = Buffer.from(form.name as Uint8Array)
  const data = Buffer.from((form.data ?? '') as Uint8Array)
  const method = form.method ?? 0
  const packed = form.packed ?? (method === 8 ? deflateRawSync(data) : data)
  const isText = typeof form.name === 'string' && name.length !== form.name.length
  const flags = (isText ? 0x800 : 0) | (form.descriptor ? 8 : 0) | (form.flags ?? 0)
  const crc = form.crc ?? crc32(data)
  const packedBytes = form.packedBytes ?? packed.length
  const shared = { name, flags, method, crc, packedBytes, bytes: form.bytes ?? data.length }
  const empty = form.descriptor ? { crc: 0, packedBytes: 0, bytes: 0 } : {}
  const local = { ...shared, extra: Buffer.alloc(0), ...empty, ...form.local }
  const head = [u32(0x04034b50), u16(20), common(local), local.name, local.extra]
  return {
    local: Buffer.concat([...head, packed, writeDescriptor(form.descriptor, shared)]),
    directory: writeDirectoryRecord(form, shared, form.offset ?? at),
  }
}

type Shared = Omit<LocalForm, 'extra'>

const common = (form: LocalForm): Buffer =>
  Buffer.concat([
    u16(form.flags, form.method, 0, 33),
    u32(form.crc, form.packedBytes, form.bytes),
    u16(form.name.length, form.extra.length),
  ])

const writeDescriptor = (kind: EntryForm['descriptor'], sizes: Shared): Buffer => {
  if (!kind) return Buffer.alloc(0)
  const numbers = [sizes.packedBytes, sizes.bytes]
  const signature = kind === 'bare' ? Buffer.alloc(0) : u32(0x08074b50)
  const packed = kind === 'zip64' ? u64(...numbers) : u32(...numbers)
  return Buffer.concat([signature, u32(sizes.crc), packed])
}

const writeDirectoryRecord = (form: EntryForm, shared: Shared, at: number): Buffer => {
  const comment = Buffer.from(form.comment ?? '')
  const long = form.zip64
    ? Buffer.concat([u16(1, 16), u64(shared.bytes, shared.packedBytes)])
    : Buffer.alloc(0)
  const extra = Buffer.concat([long, form.extra ?? Buffer.alloc(0)])
  const sizes = form.zip64 ? { bytes: 0xffffffff, packedBytes: 0xffffffff } : {}
  const attributes = ((form.mode ?? 0o100644) * 0x10000 + (form.attributes ?? 0)) >>> 0
  return Buffer.concat([
    u32(0x02014b50),
    u16(form.madeBy ?? (3 << 8) | 20, 20),
    common({ ...shared, ...sizes, extra }),
    u16(comment.length, 0, 0),
    u32(attributes, at),
    shared.name,
    extra,
    comment,
  ])
}

interface Place {
  entries: number
  bytes: number
  offset: number
}

const writeEnd = (place: Place, form: ZipForm): Buffer => {
  const comment = Buffer.from((form.comment ?? '') as Uint8Array)
  const entries = form.entries ?? place.entries
  const { bytes, offset } = place
  const isOpen = form.zip64 === 'needed'
  const counts = isOpen ? u16(0xffff, 0xffff) : u16(entries & 0xffff, entries & 0xffff)
  const end = [
    u32(0x06054b50),
    u16(form.disk ?? 0, form.disk ?? 0),
    counts,
    isOpen ? u32(0xffffffff, 0xffffffff) : u32(bytes, offset),
    u16(comment.length),
    comment,
    form.after ?? Buffer.alloc(0),
  ]
  if (!form.zip64) return Buffer.concat(end)
  const long = form.zip64Entries ?? entries
  return Buffer.concat([
    u32(0x06064b50),
    u64(44),
    u16(45, 45),
    u32(0, 0),
    u64(long, long, bytes, offset),
    u32(0x07064b50),
    u32(0),
    u64(offset + bytes),
    u32(1),
    ...end,
  ])
}

const u16 = (...values: number[]): Buffer => {
  const bytes = Buffer.alloc(2 * values.length)
  for (const [index, value] of values.entries()) bytes.writeUInt16LE(value, 2 * index)
  return bytes
}

const u32 = (...values: number[]): Buffer => {
  const bytes = Buffer.alloc(4 * values.length)
  for (const [index, value] of values.entries()) bytes.writeUInt32LE(value, 4 * index)
  return bytes
}

const u64 = (...values: number[]): Buffer => {
  const bytes = Buffer.alloc(8 * values.length)
  for (const [index, value] of values.entries()) bytes.writeBigUInt64LE(BigInt(value), 8 * index)
  return bytes
}
