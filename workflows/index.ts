export { imageTask } from './image-task.ts'
export { purgeExpired } from './purge-expired.ts'
export { videoTask } from './video-task.ts'
