import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { WebSocketServer, type WebSocket } from 'ws'

/** What its Keystone lets in. */
export const playedPassword = 'Keystone-secret-1'
/** What its serial proxy lets in. */
export const playedToken = 'f9906a48-b71e-4f18-baca-c987da3ebdb3'
export type PlayedService = 'compute' | 'placement' | 'image' | 'network' | 'volume'

/** Answers as a small OpenStack of release Zed gave them; each service can be broken. Its instance has a serial port that echoes. */
export class PlayedCloud {
  readonly broken = new Set<PlayedService>()
  /** What it answers now instead, by method and path. */
  readonly says: Record<string, object> = {}
  /** Whether the proxy of serial consoles lets nobody to a machine. */
  serialRefused = false
  readonly #lines = new WebSocketServer({ noServer: true })
  readonly #server: Server
  #url = ''

  constructor() {
    this.#server = createServer((request, response) => {
      const parts: Buffer[] = []
      request.on('data', (part: Buffer) => parts.push(part))
      request.on('end', () => {
        const [status, body] = this.#answer(`${request.method} ${request.url?.split('?')[0]}`, Buffer.concat(parts).toString())
        response.writeHead(status, {
          'content-type': 'application/json',
          'x-openstack-request-id': 'req-of-the-cloud',
          ...(status === 201 && { 'x-subject-token': 'token' }),
        })
        response.end(JSON.stringify(body))
      })
    })
  }
  /** Cuts who is at the serial port. */
  breakSerial(): void {
    for (const line of this.#lines.clients) line.terminate()
  }
  async open(): Promise<string> {
    this.#server.on('upgrade', (request, socket, head) => this.#lines.handleUpgrade(request, socket, head, (line) => this.#serial(line)))
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
    this.#url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
    return `${this.#url}/identity/v3`
  }
  close(): void {
    this.breakSerial()
    this.#server.closeAllConnections()
    this.#server.close()
  }

  #serial(line: WebSocket): void {
    if (this.serialRefused) return line.terminate()
    line.send(Buffer.from('\r\nplayed-vm login: '), { binary: true })
    line.on('message', (typed: Buffer) => line.send(Buffer.from(typed.toString().replaceAll('\r', '\r\nplayed-vm login: ')), { binary: true }))
  }

  #answer(asked: string, body: string): readonly [number, object] {
    const service = asked.split('/')[1] ?? ''
    if ([...this.broken].some((one) => one === service)) return [500, { computeFault: { code: 500, message: 'the database is on fire' } }]
    if (asked === 'POST /identity/v3/auth/tokens') {
      return body.includes(playedPassword)
        ? [201, { token: this.#token() }]
        : [401, { error: { code: 401, title: 'Unauthorized', message: 'The request you have made requires authentication.' } }]
    }
    const known: Readonly<Record<string, object>> = {
      'GET /identity/v3/': { version: { id: 'v3.14', status: 'stable' } },
      'GET /identity/v3/projects': { projects: [] },
      'GET /compute/v2.1/': { version: { id: 'v2.1', status: 'CURRENT', version: '2.93', min_version: '2.1' } },
      'GET /compute/v2.1/os-hypervisors/statistics': {
        hypervisor_statistics: {
          count: 3,
          vcpus: 96,
          vcpus_used: 60,
          memory_mb: 786_432,
          memory_mb_used: 263_680,
          local_gb: 3084,
          local_gb_used: 300,
          running_vms: 12,
        },
      },
      'GET /placement/': { versions: [{ id: 'v1.0', max_version: '1.39', min_version: '1.0', status: 'CURRENT' }] },
      'GET /placement/resource_providers': { resource_providers: [{ uuid: 'p1', name: 'host-1', generation: 4, root_provider_uuid: 'p1' }] },
      'GET /placement/resource_providers/p1/inventories': {
        inventories: {
          VCPU: { total: 96, reserved: 0, allocation_ratio: 4 },
          MEMORY_MB: { total: 786_432, reserved: 1536, allocation_ratio: 1 },
          DISK_GB: { total: 3084, reserved: 0, allocation_ratio: 1 },
        },
      },
      'GET /image/': { versions: [{ id: 'v2.15', status: 'CURRENT' }] },
      'GET /network/': { versions: [{ id: 'v2.0', status: 'CURRENT' }] },
      'GET /volume/v3/': { versions: [{ id: 'v3.0', status: 'CURRENT', version: '3.70', min_version: '3.0' }] },
      'GET /volume/v3/project/scheduler-stats/get_pools': {
        pools: [{ name: 'cloud@ceph#ceph', capabilities: { total_capacity_gb: 10_240, free_capacity_gb: 9_000 } }],
      },
    }
    if (asked === `POST /compute/v2.1/servers/${ids.server}/remote-consoles`) {
      return body.includes('serial')
        ? [200, { remote_console: { protocol: 'serial', type: 'serial', url: `${this.#url.replace('http', 'ws')}/?token=${playedToken}` } }]
        : [400, { badRequest: { code: 400, message: 'Unavailable console type novnc.' } }]
    }
    const found = this.says[asked] ?? known[asked] ?? lists[asked]
    return found === undefined ? [404, { error: { code: 404, message: asked } }] : [200, found]
  }

  #token(): object {
    const at = (type: string, path: string) => ({ type, endpoints: [{ interface: 'public', region_id: 'RegionOne', url: `${this.#url}/${path}` }] })
    return {
      expires_at: new Date(Date.now() + 3_600_000).toISOString(),
      user: { id: 'user', name: 'admin' },
      project: { id: 'project', name: 'admin' },
      roles: [{ id: 'role', name: 'admin' }],
      catalog: [
        at('compute', 'compute/v2.1'),
        at('placement', 'placement'),
        at('image', 'image'),
        at('network', 'network'),
        at('volumev3', 'volume/v3/project'),
      ],
    }
  }
}

const at = '2026-11-20T01:02:03Z'
export const ids = {
  server: '5f0c3f1a-6b0e-4f0e-9d55-0a8f0f6f3c11',
  image: '0e7761dd-ee98-41f0-ba35-05994e446431',
  shot: '1c7761dd-ee98-41f0-ba35-05994e446431',
  network: '2b2d2c9a-3a76-4d2e-8a0e-1f2c7a5b9d01',
  subnet: '3b2d2c9a-3a76-4d2e-8a0e-1f2c7a5b9d01',
  port: '4b2d2c9a-3a76-4d2e-8a0e-1f2c7a5b9d01',
  router: '5b2d2c9a-3a76-4d2e-8a0e-1f2c7a5b9d01',
  volume: '6b2d2c9a-3a76-4d2e-8a0e-1f2c7a5b9d01',
} as const
const project_id = 'project'

export const playedServer = {
  id: ids.server,
  name: 'played-vm',
  status: 'ACTIVE',
  tenant_id: project_id,
  metadata: {},
  image: { id: ids.image },
  flavor: { original_name: 'played-flavor', vcpus: 2, ram: 4096, disk: 20, ephemeral: 0, swap: 0, extra_specs: {} },
  created: at,
  updated: at,
  addresses: { 'played-net': [{ addr: '10.9.0.4', version: 4, 'OS-EXT-IPS:type': 'fixed', 'OS-EXT-IPS-MAC:mac_addr': 'fa:16:3e:00:00:01' }] },
  key_name: null,
  progress: 0,
  locked: false,
  description: null,
  tags: [],
  'OS-EXT-STS:vm_state': 'active',
  'OS-EXT-STS:task_state': null,
  'OS-EXT-AZ:availability_zone': 'nova',
  'OS-SRV-USG:launched_at': '2026-11-20T01:02:12.000000',
  'os-extended-volumes:volumes_attached': [{ id: ids.volume }],
}

/** One of each kind, as a cloud of release Zed tells them; each is called `played-…`. */
const lists: Readonly<Record<string, object>> = {
  'GET /compute/v2.1/servers/detail': {
    servers: [
      playedServer,
      {
        id: '9f0c3f1a-6b0e-4f0e-9d55-0a8f0f6f3c11',
        name: 'played-recycled',
        status: 'SOFT_DELETED',
        tenant_id: project_id,
        metadata: {},
        image: '',
        flavor: { original_name: 'played-flavor', vcpus: 2, ram: 4096, disk: 20, ephemeral: 0, swap: 0, extra_specs: {} },
        created: at,
        updated: at,
        addresses: {},
        key_name: null,
        locked: false,
        tags: [],
        'OS-EXT-STS:vm_state': 'soft-delete',
        'OS-EXT-STS:task_state': null,
      },
    ],
  },
  [`GET /compute/v2.1/servers/${ids.server}`]: { server: playedServer },
  [`GET /compute/v2.1/servers/${ids.server}/os-interface`]: { interfaceAttachments: [] },
  [`GET /compute/v2.1/servers/${ids.server}/os-volume_attachments`]: { volumeAttachments: [] },
  [`GET /image/v2/images/${ids.image}`]: {
    id: ids.image,
    name: 'played-image',
    status: 'active',
    visibility: 'public',
    owner: project_id,
    disk_format: 'qcow2',
    container_format: 'bare',
    size: 2 ** 28,
    min_disk: 0,
    min_ram: 0,
    protected: false,
    tags: [],
    created_at: at,
    updated_at: at,
  },
  'GET /compute/v2.1/servers': { servers: [{ id: ids.server, name: 'played-vm' }] },
  'GET /compute/v2.1/flavors/detail': {
    flavors: [
      {
        id: 'f1',
        name: 'played-flavor',
        vcpus: 2,
        ram: 4096,
        disk: 20,
        'OS-FLV-EXT-DATA:ephemeral': 0,
        swap: '',
        'os-flavor-access:is_public': true,
        description: null,
        extra_specs: {},
      },
    ],
  },
  'GET /compute/v2.1/os-server-groups': { server_groups: [] },
  'GET /image/v2/images': {
    images: [
      {
        id: ids.image,
        name: 'played-image',
        status: 'active',
        visibility: 'public',
        owner: project_id,
        disk_format: 'qcow2',
        container_format: 'bare',
        size: 2 ** 28,
        min_disk: 0,
        min_ram: 0,
        protected: false,
        tags: [],
        created_at: at,
        updated_at: at,
      },
      {
        id: ids.shot,
        name: 'played-shot',
        status: 'active',
        visibility: 'private',
        owner: project_id,
        disk_format: 'raw',
        container_format: 'bare',
        size: 2 ** 28,
        min_disk: 1,
        min_ram: 0,
        protected: false,
        image_type: 'snapshot',
        instance_uuid: ids.server,
        tags: [],
        created_at: at,
        updated_at: at,
      },
    ],
  },
  'GET /image/v2/info/import': {
    'import-methods': { description: 'Import methods available.', type: 'array', value: ['glance-direct', 'web-download', 'copy-image'] },
  },
  'GET /network/v2.0/networks': {
    networks: [
      {
        id: ids.network,
        name: 'played-net',
        status: 'ACTIVE',
        admin_state_up: true,
        shared: false,
        'router:external': false,
        mtu: 1450,
        project_id,
        subnets: [ids.subnet],
        port_security_enabled: true,
        description: '',
      },
    ],
  },
  'GET /network/v2.0/subnets': {
    subnets: [
      {
        id: ids.subnet,
        name: 'played-subnet',
        network_id: ids.network,
        cidr: '10.9.0.0/24',
        ip_version: 4,
        gateway_ip: '10.9.0.1',
        enable_dhcp: true,
        dns_nameservers: [],
        allocation_pools: [],
        host_routes: [],
        project_id,
        description: '',
      },
    ],
  },
  'GET /network/v2.0/ports': {
    ports: [
      {
        id: ids.port,
        name: 'played-port',
        network_id: ids.network,
        status: 'ACTIVE',
        admin_state_up: true,
        mac_address: 'fa:16:3e:00:00:01',
        fixed_ips: [{ subnet_id: ids.subnet, ip_address: '10.9.0.4' }],
        device_id: ids.server,
        device_owner: 'compute:nova',
        security_groups: [],
        port_security_enabled: true,
        allowed_address_pairs: [],
        project_id,
        description: '',
      },
    ],
  },
  'GET /network/v2.0/routers': {
    routers: [
      { id: ids.router, name: 'played-router', status: 'ACTIVE', admin_state_up: true, external_gateway_info: null, routes: [], project_id, description: '' },
    ],
  },
  'GET /network/v2.0/security-groups': {
    security_groups: [
      { id: '7b2d2c9a-3a76-4d2e-8a0e-1f2c7a5b9d01', name: 'played-group', description: '', stateful: true, project_id, security_group_rules: [] },
    ],
  },
  'GET /network/v2.0/floatingips': {
    floatingips: [
      {
        id: '8b2d2c9a-3a76-4d2e-8a0e-1f2c7a5b9d01',
        floating_ip_address: '203.0.113.9',
        fixed_ip_address: null,
        floating_network_id: ids.network,
        port_id: null,
        router_id: null,
        status: 'DOWN',
        project_id,
        description: 'played-ip',
      },
    ],
  },
  'GET /network/v2.0/extensions': { extensions: [{ alias: 'router' }] },
  'GET /volume/v3/project/volumes/detail': {
    volumes: [
      {
        id: ids.volume,
        name: 'played-volume',
        description: '',
        status: 'in-use',
        size: 20,
        volume_type: 'ssd',
        bootable: 'false',
        multiattach: false,
        encrypted: false,
        availability_zone: 'nova',
        metadata: {},
        attachments: [{ server_id: ids.server, device: '/dev/vdb', attachment_id: 'a', attached_at: at }],
        created_at: at,
        updated_at: at,
        'os-vol-tenant-attr:tenant_id': project_id,
      },
    ],
  },
  'GET /volume/v3/project/volumes': { volumes: [{ id: ids.volume, name: 'played-volume' }] },
  'GET /volume/v3/project/snapshots/detail': {
    snapshots: [
      {
        id: '6c2d2c9a-3a76-4d2e-8a0e-1f2c7a5b9d01',
        name: 'played-snapshot',
        description: '',
        status: 'available',
        size: 20,
        volume_id: ids.volume,
        metadata: {},
        created_at: at,
        updated_at: at,
        'os-extended-snapshot-attributes:progress': '100%',
        'os-extended-snapshot-attributes:project_id': project_id,
      },
    ],
  },
  'GET /volume/v3/project/backups/detail': {
    backups: [
      {
        id: '6d2d2c9a-3a76-4d2e-8a0e-1f2c7a5b9d01',
        name: 'played-backup',
        description: '',
        status: 'available',
        size: 20,
        volume_id: ids.volume,
        is_incremental: false,
        has_dependent_backups: false,
        fail_reason: null,
        data_timestamp: at,
        created_at: at,
        updated_at: at,
        'os-backup-project-attr:project_id': project_id,
      },
    ],
  },
  'GET /volume/v3/project/volume-transfers/detail': { transfers: [] },
  'GET /volume/v3/project/os-availability-zone': { availabilityZoneInfo: [{ zoneName: 'nova', zoneState: { available: true } }] },
  'GET /volume/v3/project/types': { volume_types: [{ id: 't1', name: 'ssd', description: '', is_public: true, extra_specs: {} }] },
}
