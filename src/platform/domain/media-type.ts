/** The type of a file whose first bytes match no known type. Browsers offer to save it and run nothing of it. */
export const UNKNOWN_MEDIA_TYPE = 'application/octet-stream'

/** Number of first bytes that `mediaTypeOf` reads. */
export const MEDIA_TYPE_BYTES = 32

/**
 * Finds the media type of a file by its first bytes. Only types of images and videos are known, because a browser does
 * not run such files. A name, or the type that a caller claims, is never believed.
 */
export const mediaTypeOf = (bytes: Uint8Array): string => {
  const head = String.fromCharCode(...bytes.subarray(0, MEDIA_TYPE_BYTES))
  return SIGNATURES.find(([, form]) => form.test(head))?.[0] ?? UNKNOWN_MEDIA_TYPE
}

// One character a byte. The brand of an ISO base media file (AVIF, MP4, MOV) is at byte 8; `mif1` and `miaf` are brands
// that HEIC shares, so they count only with an AVIF brand among the compatible ones from byte 16 on.
const SIGNATURES: readonly (readonly [string, RegExp])[] = [
  ['image/jpeg', /^\xff\xd8\xff/],
  ['image/png', /^\x89PNG\r\n.\n/],
  ['image/gif', /^GIF8[79]a/],
  ['image/webp', /^RIFF[^]{4}WEBP/],
  ['image/tiff', /^(?:II[*+]\0|MM\0[*+])/],
  ['image/avif', /^[^]{4}ftyp(?:avif|avis|mi(?:f1|af)[^]{4}(?:[^]{4})*?avi[fs])/],
  ['video/mp4', /^[^]{4}ftyp(?:iso[m2-9]|mp4[12]|avc1|dash|M4V |MSNV)/],
  ['video/quicktime', /^[^]{4}ftypqt {2}/],
  ['video/webm', /^.E\xdf\xa3[^]*webm/],
]
