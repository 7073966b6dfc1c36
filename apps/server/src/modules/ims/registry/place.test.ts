import { describe, expect, it } from 'vitest'
import { placeOfAddress, placeOfUrl } from './place.ts'

describe('where a registry listens', () => {
  it.each([
    ['https://Reg.Example.com', 'reg.example.com', 443],
    ['https://reg.example.com.:443/', 'reg.example.com', 443],
    ['http://reg.example.com', 'reg.example.com', 80],
    ['http://[::1]:5000', '::1', 5_000],
    ['http://0x7f.1:5000', '127.0.0.1', 5_000],
  ])('is the same in %s', (url, host, port) => {
    expect(placeOfUrl(url)).toEqual({ host, ports: [port] })
  })

  it.each([
    ['REG.example.com', 'reg.example.com', [443, 80]],
    ['reg.example.com:443', 'reg.example.com', [443]],
    ['reg.example.com:80', 'reg.example.com', [80]],
    ['[::1]:5000', '::1', [5_000]],
  ])('is what an image says by %s', (address, host, ports) => {
    expect(placeOfAddress(address)).toEqual({ host, ports })
  })

  it.each(['', 'a b', 'reg:99999', '[::1'])('is nowhere in %j', (address) => {
    expect(placeOfAddress(address)).toBeNull()
  })
})
