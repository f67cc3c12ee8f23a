/**
 * Makes the content security policy of the console: nothing inline, no other origin but that of the issuer, no frame
 * around the pages, and no text becomes HTML but the empty one, which React Aria writes to empty the box of its
 * announcer. Pictures and videos may also come from the origins of a store that callers are sent to.
 */
export const makeConsolePolicy = (
  authOrigins: readonly string[],
  storeOrigins: readonly string[],
): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    ["img-src 'self' blob:", ...storeOrigins].join(' '),
    ["media-src 'self' blob:", ...storeOrigins].join(' '),
    "font-src 'self'",
    ["connect-src 'self'", ...authOrigins].join(' '),
    "manifest-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    'trusted-types default',
  ].join('; ')
