import { registryTools, type RegistryTool } from '@zhisuan/contract/ims/registry'

interface Lines {
  readonly trust: string[]
  readonly login: string[]
  readonly push: string[]
  readonly pull: string[]
}

/** For a shell: names of people may have spaces and quotes. */
const quoted = (text: string): string => (/^[\w@.+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`)

/**
 * The very lines by which each program signs in, pushes and pulls; passwords are asked for, and stand nowhere.
 * @param registry how it is reached; `certificate_authority` has to be known to the machine first
 */
export function commandsOf(
  registry: { readonly address: string; readonly url: string; readonly certificate_authority: string | null },
  username: string,
  what: { readonly project: string; readonly repository?: string | undefined; readonly tag?: string | undefined },
): { tool: RegistryTool; trust: string[]; login: string[]; push: string[]; pull: string[] }[] {
  const { address } = registry
  const insecure = registry.url.startsWith('http:')
  const name = `${address}/${what.project}/${what.repository ?? 'my-app'}`
  const tag = what.tag ?? 'latest'
  const image = `${name}:${tag}`
  const local = `${what.repository?.split('/').at(-1) ?? 'my-app'}:${tag}`
  const user = quoted(username)
  const authority = (folder: string): string[] =>
    registry.certificate_authority === null
      ? []
      : [`sudo mkdir -p ${folder}`, `sudo tee ${folder}/ca.crt >/dev/null <<'EOF'`, ...registry.certificate_authority.trim().split('\n'), 'EOF']
  const plain = (option: string): string => (insecure ? ` ${option}` : '')
  const lines: Record<RegistryTool, Lines> = {
    docker: {
      trust: authority(`/etc/docker/certs.d/${address}`),
      login: [`docker login ${address} -u ${user}`],
      push: [`docker tag ${local} ${image}`, `docker push ${image}`],
      pull: [`docker pull ${image}`],
    },
    podman: {
      trust: authority(`/etc/containers/certs.d/${address}`),
      login: [`podman login${plain('--tls-verify=false')} ${address} -u ${user}`],
      push: [`podman tag ${local} ${image}`, `podman push${plain('--tls-verify=false')} ${image}`],
      pull: [`podman pull${plain('--tls-verify=false')} ${image}`],
    },
    containerd: {
      trust: authority(`/etc/containerd/certs.d/${address}`),
      // ctr keeps nothing: it asks for the password each time where none stands behind the name.
      login: [],
      push: [`ctr images tag ${local} ${image}`, `ctr images push${plain('--plain-http')} --user ${user} ${image}`],
      pull: [`ctr images pull${plain('--plain-http')} --hosts-dir /etc/containerd/certs.d --user ${user} ${image}`],
    },
    skopeo: {
      trust: authority(`/etc/containers/certs.d/${address}`),
      login: [`skopeo login${plain('--tls-verify=false')} ${address} -u ${user}`],
      push: [`skopeo copy${plain('--dest-tls-verify=false')} docker-daemon:${local} docker://${image}`],
      pull: [`skopeo copy${plain('--src-tls-verify=false')} docker://${image} docker-archive:image.tar:${local}`],
    },
    helm: {
      trust: authority('/etc/ssl/zhisuan'),
      login: [`helm registry login${plain('--insecure')} ${address} -u ${user}`],
      push: [`helm push${plain('--plain-http')} my-chart-0.1.0.tgz oci://${address}/${what.project}`],
      pull: [`helm pull${plain('--plain-http')} oci://${name} --version ${what.tag ?? '0.1.0'}`],
    },
  }
  return registryTools.map((tool) => ({ tool, ...lines[tool] }))
}
