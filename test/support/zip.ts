import crc32 from 'crc-32'

/** A zip of one stored file (APPNOTE 4.3), for tests that need the bytes of one and not what is in them. */
export const makeZip = (content: string | Buffer, name = 'pack/__init__.py'): Buffer => {
  const data = Buffer.from(content)
  const path = Buffer.from(name)
  const sizes = [crc32.buf(data) >>> 0, data.length, data.length]
  const shared = [...u16(20, 0, 0, 0, 33), ...u32(...sizes), ...u16(path.length, 0)]
  const local = Buffer.from([...u32(0x04034b50), ...shared, ...path])
  const central = Buffer.from([
    ...u32(0x02014b50),
    ...u16(20),
    ...shared,
    ...u16(0, 0, 0),
    ...u32(0, 0),
    ...path,
  ])
  const end = Buffer.from([
    ...u32(0x06054b50),
    ...u16(0, 0, 1, 1),
    ...u32(central.length, local.length + data.length),
    ...u16(0),
  ])
  return Buffer.concat([local, data, central, end])
}

const u16 = (...values: number[]): number[] =>
  values.flatMap((value) => [value & 0xff, (value >>> 8) & 0xff])

const u32 = (...values: number[]): number[] =>
  values.flatMap((value) => u16(value & 0xffff, value >>> 16))
