/** How many of the first bytes tell a zip. */
export const ZIP_HEAD_BYTES = 4

/** Whether bytes begin as a zip does: with the header of a first entry or, in an empty zip, with the end record. */
export const beginsAsZip = (head: Buffer): boolean =>
  BEGINNINGS.some((beginning) => head.subarray(0, ZIP_HEAD_BYTES).equals(beginning))

const BEGINNINGS = [Buffer.from('PK\x03\x04', 'latin1'), Buffer.from('PK\x05\x06', 'latin1')]
