type ClipProps = { src: string; className?: string | undefined }

/** A video without words, which is played once it is seen; its first picture is there before. */
export const Clip = (props: ClipProps) => (
  <video {...props} ref={playOnceSeen} muted loop playsInline preload="metadata" aria-hidden />
)

const playOnceSeen = (video: HTMLVideoElement): (() => void) => {
  const watch = new IntersectionObserver(([seen]) => seen?.isIntersecting && void video.play(), {
    threshold: 0.5,
  })
  watch.observe(video)
  return () => watch.disconnect()
}
