/*
 * Runs before all else of a page, as a small script of its own (../early.ts): asks at once what this address asked the last
 * time, and what every page asks, while the scripts that will ask it are still on their way. They take the answers from here
 * (api/early.ts). Nothing is imported, as each import would be waited for; and it is no module, which would wait for the page.
 */
try {
  const token = decodeURIComponent(/(?:^|; )token=([^;]+)/.exec(document.cookie)?.[1] ?? '')
  const asked = JSON.parse(localStorage.getItem('zhisuan.asked') ?? '{}') as Readonly<Record<string, readonly string[]>>
  const urls = token === '' ? [] : [...(asked[''] ?? []), ...(asked[location.pathname + location.search] ?? [])]
  const answers = new Map<string, Promise<Response>>()
  for (const url of new Set(urls)) {
    const answer = fetch(url, { headers: { accept: 'application/json', authorization: `Bearer ${token}` }, signal: AbortSignal.timeout(60_000) })
    // Whoever takes it hears of it; nobody has to.
    answer.catch(() => undefined)
    answers.set(url, answer)
  }
  Object.assign(globalThis, { zhisuanEarly: { token, answers } })
} catch {
  // Nothing is remembered, or not legibly: the page asks by itself.
}
