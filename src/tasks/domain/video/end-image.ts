/** Names the last frame among the inputs of a task; the first, or the only image, is `images`. */
export const END_IMAGE = 'end_image'
