/** A picture as WebP, or why there is none that can be shown; one that was fetched before 0031 has no reason. */
export type FetchedPicture = { bytes: Buffer; error: null } | { bytes: null; error: string | null }

/** Members of a node or publisher that hold the address of a picture. */
const PICTURE_MEMBERS = ['icon', 'banner_url', 'logo'] as const

/** Makes the address of a picture in the store; `path` is the path of the route that shows it. */
export const keptPictureUrl = (publicUrl: string, path: string, id: string): string =>
  `${publicUrl}${path}?v=${id}`

/** The id of the picture in the store that an address of this service names; undefined for any other address. */
export const keptPictureId = (address: string, publicUrl: string): string | undefined =>
  address.startsWith(`${publicUrl}/`) ? KEPT.exec(address)?.[1] : undefined
const KEPT = /\/(?:icon|banner|logo)\?v=([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})$/

/** Finds what an address must be so that the service calls it; undefined when it is so already. */
export type FindAddressIssue = (address: string) => string | undefined

/** Endings of files that are no picture of a kind that is shown. A server may still send one. */
const OTHER_KINDS = /\.(svgz?|ico|pdf|heic|bmp|psd|html?|mp4|webm)$/i
/** A page of a code host around a file. */
const FILE_PAGE = /^https:\/\/(?:github|gitlab)\.com\/.*\/blob\//i

/** Says why the picture at an address will hardly be shown, as far as the address shows it; undefined when it does not. */
export const pictureIssue = (address: string, find: FindAddressIssue): string | undefined => {
  const issue = find(address)
  if (issue !== undefined) return `its address ${issue}`
  const { pathname } = new URL(address)
  const [, kind] = OTHER_KINDS.exec(pathname) ?? []
  if (kind !== undefined)
    return `its address ends with .${kind}, and only JPEG, PNG, WebP, AVIF, TIFF and GIF are shown`
  return FILE_PAGE.test(address)
    ? 'its address is that of a page about the file; give the address of the raw file'
    : undefined
}

/**
 * Lists warnings about the pictures that a body names.
 * @param at pointer to the object they are members of
 */
export const pictureWarnings = (
  body: Readonly<Record<string, unknown>>,
  { find, publicUrl }: { find: FindAddressIssue; publicUrl: string },
  at = '',
): string[] =>
  PICTURE_MEMBERS.flatMap((name) => {
    const address = body[name]
    if (typeof address !== 'string' || address === '') return []
    if (keptPictureId(address, publicUrl) !== undefined) return []
    const issue = pictureIssue(address, find)
    return issue === undefined ? [] : [`${at}/${name} is stored, but cannot be shown: ${issue}.`]
  })
