import { describe, expect, it } from 'vitest'
import { bootedAt, cpuOf, cpuTimes, disksOf, isOutward, memoryOf, osName, trafficOf } from './proc.ts'

describe('what Linux says of itself', () => {
  it('processors: guests are users already', () => {
    const stat = 'cpu  100 10 50 800 40 5 5 10 30 0\ncpu0 1 1 1 1 1 1 1 1 1 1\nbtime 1700000000\n'
    expect(cpuTimes(stat)).toEqual({ busy: 180, total: 1_020 })
    expect(bootedAt(stat).toISOString()).toBe('2023-11-14T22:13:20.000Z')
  })
  it('memory in bytes', () => {
    expect(memoryOf('MemTotal:       2048 kB\nMemFree:         1 kB\nMemAvailable:   1024 kB\nSwapTotal:       512 kB\n')).toEqual({
      total: 2 ** 21,
      available: 2 ** 20,
      swapTotal: 2 ** 19,
    })
  })
  it('cores and threads of x86, with two threads each', () => {
    const one = (processor: number, core: number) => `processor\t: ${processor}\nmodel name\t: AMD EPYC 7763\nphysical id\t: 0\ncore id\t\t: ${core}\n`
    expect(cpuOf([one(0, 0), one(1, 0), one(2, 1), one(3, 1)].join('\n'))).toEqual({ model: 'AMD EPYC 7763', cores: 2, threads: 4 })
  })
  it('cores of ARM, which names none', () => {
    expect(cpuOf('processor\t: 0\nCPU part\t: 0xd0c\n\nprocessor\t: 1\nCPU part\t: 0xd0c\n\nHardware\t: BCM2835\nModel\t\t: Raspberry Pi 4\n')).toEqual({
      model: 'Raspberry Pi 4',
      cores: 2,
      threads: 2,
    })
  })
  it('disks once each, and none of memory, containers or the network', () => {
    const mountinfo = [
      '22 27 0:21 / /proc rw,relatime - proc proc rw',
      '27 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda1 rw',
      '28 27 254:0 /var/lib/docker /var/lib/docker rw,relatime - ext4 /dev/vda1 rw',
      '29 27 254:16 / /data\\040disk rw,relatime shared:2 master:1 - xfs /dev/vdb rw',
      '30 27 0:40 / /var/lib/docker/overlay2/x/merged rw - overlay overlay rw',
      '31 27 0:41 / /mnt/nfs rw - nfs4 server:/export rw',
      '32 27 7:0 / /snap/core ro - squashfs /dev/loop0 ro',
    ].join('\n')
    expect(disksOf(mountinfo)).toEqual([
      { mount: '/', device: '/dev/vda1', fileSystem: 'ext4' },
      { mount: '/data disk', device: '/dev/vdb', fileSystem: 'xfs' },
    ])
  })
  it('traffic, also of names that touch their figures', () => {
    expect(
      trafficOf('Inter-|   Receive  |  Transmit\n face |bytes packets\n  eth0:123 1 0 0 0 0 0 0 456 2 0 0 0 0 0 0\n    lo: 7 1 0 0 0 0 0 0 7 1 0 0 0 0 0 0\n'),
    ).toEqual([
      { name: 'eth0', received: 123, sent: 456 },
      { name: 'lo', received: 7, sent: 7 },
    ])
    expect(['eth0', 'ens3', 'bond0', 'lo', 'veth12ab', 'docker0'].filter(isOutward)).toEqual(['eth0', 'ens3', 'bond0', 'docker0'])
  })
  it('the system by its name', () => {
    expect(osName('NAME="Debian GNU/Linux"\nPRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\n')).toBe('Debian GNU/Linux 12 (bookworm)')
    expect(osName('NAME=Alpine\n')).toBe('Alpine')
    expect(osName('')).toBe('Linux')
  })
})
