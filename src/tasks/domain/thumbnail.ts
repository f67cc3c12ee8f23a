/** Name of the small picture of a task's result, among the files of the task. */
export const THUMBNAIL = 'thumbnail.webp'
