/** In the order in which they are asked: most pretend to be the ones below them. */
const browsers: readonly (readonly [mark: RegExp, name: string])[] = [
  [/\bMicroMessenger\//, '微信'],
  [/\bEdgA?\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\bFirefox\//, 'Firefox'],
  [/\b(Headless)?Chrome\//, 'Chrome'],
  [/\bVersion\/.*\bSafari\//, 'Safari'],
  [/\bcurl\//, 'curl'],
]
const systems: readonly (readonly [mark: RegExp, name: string])[] = [
  [/\biPhone\b|\biPad\b/, 'iOS'],
  [/\bAndroid\b/, 'Android'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac OS X\b/, 'macOS'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bLinux\b/, 'Linux'],
]
const first = (known: typeof browsers, text: string): string | undefined => known.find(([mark]) => mark.test(text))?.[1]

/** What a User-Agent is to its owner: `Chrome · Windows`; of an unknown one its beginning. Only to be recognised, nothing decides by it. */
export function deviceText(userAgent: string): string {
  const parts = [first(browsers, userAgent), first(systems, userAgent)].filter((part) => part !== undefined)
  return parts.length > 0 ? parts.join(' · ') : userAgent.slice(0, 40)
}
