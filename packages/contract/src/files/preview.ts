/** How a file is looked at in the console, by the ending of its name. What is not here is downloaded. */
export interface Preview {
  readonly kind: 'image' | 'audio' | 'video' | 'pdf' | 'markdown' | 'text'
  /** As what it is sent: never a type that a browser would run in our name. A PDF it hands to its own reader, which stands apart from pages. */
  readonly type: string
}

const images = { png: 'png', jpg: 'jpeg', jpeg: 'jpeg', gif: 'gif', webp: 'webp', avif: 'avif', bmp: 'bmp' } as const
const audio = { mp3: 'mpeg', m4a: 'mp4', ogg: 'ogg', oga: 'ogg', opus: 'ogg', wav: 'wav', flac: 'flac', aac: 'aac' } as const
const video = { mp4: 'mp4', m4v: 'mp4', webm: 'webm', ogv: 'ogg', mov: 'mp4' } as const
/** Code, and whatever else is read as it is: SVG and HTML too, as their source. */
const text =
  'txt log csv tsv json jsonl ndjson yaml yml toml ini conf cfg env properties xml svg html htm css scss less js mjs cjs jsx ts tsx py ipynb r go rs c h cc cpp hpp cu cuh java kt scala rb php pl lua sh bash zsh fish ps1 bat sql proto graphql dockerfile makefile cmake gradle tf hcl patch diff tex bib srt vtt gitignore gitattributes editorconfig'.split(
    ' ',
  )
const whole = new Map<string, Preview>([
  ...Object.entries(images).map(([ending, type]) => [ending, { kind: 'image', type: `image/${type}` }] as const),
  ...Object.entries(audio).map(([ending, type]) => [ending, { kind: 'audio', type: `audio/${type}` }] as const),
  ...Object.entries(video).map(([ending, type]) => [ending, { kind: 'video', type: `video/${type}` }] as const),
  ['pdf', { kind: 'pdf', type: 'application/pdf' }],
  ...text.map((ending) => [ending, { kind: 'text', type: 'text/plain; charset=utf-8' }] as const),
  ...['md', 'markdown'].map((ending) => [ending, { kind: 'markdown', type: 'text/plain; charset=utf-8' }] as const),
])
/** Of texts so much is shown. */
export const previewTextBytes = 1024 * 1024

/** Null where it is only downloaded. A name without a point is its own ending: `Dockerfile`. */
export const previewOf = (name: string): Preview | null => whole.get(name.slice(name.lastIndexOf('.') + 1).toLowerCase()) ?? null
