import { writeZip } from './zip-writer.ts'

/** A zip of one stored file, for tests that need the bytes of one and not what is in them. */
export const makeZip = (content: string | Buffer, name = 'pack/__init__.py'): Buffer =>
  writeZip([{ name, data: content }])
