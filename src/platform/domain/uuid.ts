const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i

/** True when a text may be the id of a row: PostgreSQL rejects any other with an error. */
export const isUuid = (text: string): boolean => UUID.test(text)
