/** Options of ffmpeg that hold no blanks, as arguments. */
const words = (text: string): string[] => text.split(' ')

/** Options of every input: it is a file, no list of other files and no address, and one thread reads it. */
export const CONFINED = words('-protocol_whitelist file,pipe -threads 1')

/**
 * Options of an input that a caller gave: no picture in it is larger than a source may be, whatever its header says, and
 * whatever its size becomes on the way.
 */
export const CALLERS = words('-max_pixels 16777216')

export const QUIET = words('-hide_banner -nostdin -nostats -loglevel error')

/** Counts on standard output what is done, and works in one thread: jobs run beside each other, one for every core. */
export const COUNTED = [
  ...QUIET,
  ...words('-progress pipe:1 -filter_threads 1 -filter_complex_threads 1'),
]

/** Flags of filters that scale and convert: the best they can, and the same on every processor. */
export const SCALER = 'flags=bicubic+accurate_rnd+full_chroma_int+bitexact'

/** The colours that the files say they have. */
export const VIDEO_COLOURS = 'out_color_matrix=bt709:out_range=tv'

/** The picture of a result. One thread, no dates and no versions: the same input gives the same bytes. */
export const VIDEO_OUTPUT = [
  // On one core `veryfast` is as fast as the filters before it; a constant quality of 18 shows no blocks in the skies.
  ...words('-c:v libx264 -preset veryfast -crf 18 -profile:v high -pix_fmt yuv420p -threads 1'),
  // A key frame every two seconds, so that players jump well.
  ...words('-r 24 -g 48 -color_range tv'),
  ...words('-colorspace bt709 -color_primaries bt709 -color_trc bt709'),
  ...words('-map_metadata -1 -map_chapters -1 -fflags +bitexact -flags:v +bitexact'),
  ...words('-movflags +faststart'),
]

/** The sound of a result: AAC-LC, 48 kHz, stereo. */
export const SOUND_OUTPUT = words(
  '-c:a aac -profile:a aac_low -b:a 160k -ar 48000 -ac 2 -flags:a +bitexact',
)
