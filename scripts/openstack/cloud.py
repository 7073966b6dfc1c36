"""What scripts/openstack/cloud.sh says to its cloud: `accounts`, `silent` and `first`. Safe to repeat."""
import json
import sys
import urllib.error
import urllib.request

KEYSTONE = 'http://127.0.0.1:15000/v3'
COMPUTE = 'http://127.0.0.1:18774/v2.1'
NETWORK = 'http://127.0.0.1:19696/v2.0'
IMAGE = 'http://127.0.0.1:19292/v2'
VOLUME = 'http://127.0.0.1:18776/v3'
SERVICES = [
    ('glance', 'image', 'http://127.0.0.1:19292'),
    ('placement', 'placement', 'http://127.0.0.1:18778'),
    ('nova', 'compute', COMPUTE),
    ('neutron', 'network', 'http://127.0.0.1:19696'),
    ('cinder', 'volumev3', VOLUME + '/%(project_id)s'),
]
WORKERS = ['nova-conductor', 'nova-scheduler', 'nova-compute', 'cinder-scheduler', 'cinder-volume', 'cinder-backup', 'neutron-linuxbridge', 'neutron-l3']

secrets = dict(line.strip().split('=', 1) for line in open(sys.argv[2]))


def ask(method, url, body=None, token=None, raw=None):
    headers = {'content-type': 'application/octet-stream' if raw is not None else 'application/json'}
    if token:
        headers['x-auth-token'] = token
    data = raw if raw is not None else None if body is None else json.dumps(body).encode()
    try:
        with urllib.request.urlopen(urllib.request.Request(url, method=method, data=data, headers=headers), timeout=60) as answer:
            text = answer.read()
            return answer.headers, json.loads(text) if text else None
    except urllib.error.HTTPError as error:
        sys.exit(f'{method} {url}: {error.code} {error.read().decode(errors="replace")[:500]}')
    except OSError as error:
        sys.exit(f'{method} {url}: {error}')


def sign_in():
    headers, answer = ask('POST', KEYSTONE + '/auth/tokens', {'auth': {
        'identity': {'methods': ['password'], 'password': {'user': {'name': 'admin', 'domain': {'id': 'default'}, 'password': secrets['admin_password']}}},
        'scope': {'project': {'name': 'admin', 'domain': {'id': 'default'}}}}})
    return headers['X-Subject-Token'], answer['token']['project']['id']


token, project = sign_in()


def made(kind, one, name, **more):
    """The object of that name, made where there is none."""
    for found in ask('GET', f'{KEYSTONE}/{kind}?name={name}', None, token)[1][kind]:
        if found['name'] == name:
            return found['id']
    return ask('POST', f'{KEYSTONE}/{kind}', {one: {'name': name, **more}}, token)[1][one]['id']


def accounts():
    service = made('projects', 'project', 'service', domain_id='default')
    roles = [made('roles', 'role', name) for name in ('admin', 'service')]
    for name, kind, url in SERVICES:
        user = made('users', 'user', name, domain_id='default', password=secrets['service_password'])
        for role in roles:
            ask('PUT', f'{KEYSTONE}/projects/{service}/users/{user}/roles/{role}', None, token)
        id = made('services', 'service', name, type=kind)
        there = [one['interface'] for one in ask('GET', f'{KEYSTONE}/endpoints?service_id={id}', None, token)[1]['endpoints']]
        for interface in ('public', 'internal', 'admin'):
            if interface not in there:
                ask('POST', KEYSTONE + '/endpoints', {'endpoint': {'service_id': id, 'interface': interface, 'region_id': 'RegionOne', 'url': url}}, token)


def silent():
    """Prints one of those that have not reported yet."""
    up = {one['binary'] for one in ask('GET', COMPUTE + '/os-services', None, token)[1]['services'] if one['state'] == 'up'}
    up |= {one['binary'] for one in ask('GET', f'{VOLUME}/{project}/os-services', None, token)[1]['services'] if one['state'] == 'up'}
    up |= {one['binary'].removesuffix('-agent') for one in ask('GET', NETWORK + '/agents', None, token)[1]['agents'] if one['alive']}
    for name in WORKERS:
        if name not in up:
            print(name)
            return


def first():
    """What a cloud needs before anybody can use it: sizes, an image, a network that leads out."""
    flavors = {one['name'] for one in ask('GET', COMPUTE + '/flavors', None, token)[1]['flavors']}
    for name, vcpus, ram, disk in [('m1.tiny', 1, 512, 1), ('m1.small', 1, 2048, 5), ('m1.medium', 2, 4096, 10)]:
        if name not in flavors:
            ask('POST', COMPUTE + '/flavors', {'flavor': {'name': name, 'vcpus': vcpus, 'ram': ram, 'disk': disk}}, token)
    if not ask('GET', IMAGE + '/images?name=empty&status=active', None, token)[1]['images']:
        id = ask('POST', IMAGE + '/images', {'name': 'empty', 'visibility': 'public', 'disk_format': 'raw', 'container_format': 'bare'}, token)[1]['id']
        ask('PUT', f'{IMAGE}/images/{id}/file', None, token, raw=bytes(1 << 20))
    networks = ask('GET', NETWORK + '/networks?name=public', None, token)[1]['networks']
    network = networks[0] if networks else ask('POST', NETWORK + '/networks', {'network': {'name': 'public', 'router:external': True, 'provider:network_type': 'vxlan'}}, token)[1]['network']
    if not network['subnets']:
        # TEST-NET-3: addresses that lead nowhere.
        ask('POST', NETWORK + '/subnets', {'subnet': {'network_id': network['id'], 'name': 'public', 'ip_version': 4, 'cidr': '203.0.113.0/24', 'enable_dhcp': False}}, token)


{'accounts': accounts, 'silent': silent, 'first': first}[sys.argv[1]]()
