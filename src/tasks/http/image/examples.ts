export const EXAMPLE_URL = 'https://images.example.com/portrait.png'

/** A whole PNG of one pixel, as Base64. */
export const DOT =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=='

export const EXAMPLE_ID = '5c0f6a52-2a9f-4a3c-9d0e-7d1b6f0c8e21'

export const EXAMPLE_LINK = `https://kiln.example.com/files/${EXAMPLE_ID}/result-1.png?expires=1767225600&signature=q3`
