/** Pixels as ffmpeg's rawvideo demuxer reads them: rows without gaps, 3 or 4 bytes each, alpha not multiplied in. */
export interface Picture {
  data: Buffer
  width: number
  height: number
  channels: 3 | 4
}

/** A picture and where its upper left corner lies in the frame. */
export interface PlacedPicture {
  picture: Picture
  x: number
  y: number
}
