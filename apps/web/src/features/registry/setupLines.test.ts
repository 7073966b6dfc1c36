import { expect, it } from 'vitest'
import { certificateFile, notificationLines, tokenLines } from './setupLines.ts'

it('tells a registry whose tokens it takes, as its configuration is written', () => {
  expect(tokenLines({ realm: 'https://console.example/token', service: 'r-1', issuer: "o'clock", certificate: 'PEM' })).toBe(
    [
      'auth:',
      '  token:',
      "    realm: 'https://console.example/token'",
      "    service: 'r-1'",
      "    issuer: 'o''clock'",
      `    rootcertbundle: '${certificateFile}'`,
    ].join('\n'),
  )
})

it('tells a registry whom to notify, and by which secret', () => {
  const lines = notificationLines('https://console.example/events', 's3cret')
  expect(lines).toContain("      url: 'https://console.example/events'")
  expect(lines).toContain("        Authorization: ['Bearer s3cret']")
})
