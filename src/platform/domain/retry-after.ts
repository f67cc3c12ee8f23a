/**
 * Seconds that a Retry-After header asks for: a number of them, or the time from `now` to an HTTP date in any of its
 * three forms (0 for one that is past). Undefined for anything else.
 */
export const parseRetryAfter = (header: string | undefined, now: Date): number | undefined => {
  const text = header?.trim() ?? ''
  if (/^\d+$/.test(text)) return Number(text)
  if (!HTTP_DATES.some((form) => form.test(text))) return undefined
  // The form of asctime has no zone and means UTC all the same.
  const time = Date.parse(text.endsWith(' GMT') ? text : `${text} GMT`)
  return Number.isNaN(time) ? undefined : Math.max(0, (time - now.getTime()) / 1_000)
}

/** RFC 9110, 5.6.7. Date.parse alone takes far more, `-5` as a year among it. */
const HTTP_DATES = [
  /^[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$/,
  /^[A-Z][a-z]{2,5}day, \d\d-[A-Z][a-z]{2}-\d\d \d\d:\d\d:\d\d GMT$/,
  /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4}$/,
]
