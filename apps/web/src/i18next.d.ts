import 'i18next'
import type account from './locales/zh/account.ts'
import type catalogue from './locales/zh/catalogue.ts'
import type clouds from './locales/zh/clouds.ts'
import type content from './locales/zh/content.ts'
import type help from './locales/zh/help.ts'
import type kit from './locales/zh/kit.ts'
import type application from './locales/zh/application.ts'
import type container from './locales/zh/container.ts'
import type fund from './locales/zh/fund.ts'
import type edge from './locales/zh/edge.ts'
import type hardware from './locales/zh/hardware.ts'
import type iam from './locales/zh/iam.ts'
import type keeping from './locales/zh/keeping.ts'
import type image from './locales/zh/image.ts'
import type licence from './locales/zh/licence.ts'
import type network from './locales/zh/network.ts'
import type nextstack from './locales/zh/nextstack.ts'
import type nextstackCompute from './locales/zh/nextstackCompute.ts'
import type compute from './locales/zh/compute.ts'
import type computeFirewall from './locales/zh/computeFirewall.ts'
import type computeFlavor from './locales/zh/computeFlavor.ts'
import type computeImage from './locales/zh/computeImage.ts'
import type computeInstance from './locales/zh/computeInstance.ts'
import type computeNetwork from './locales/zh/computeNetwork.ts'
import type computeFloatingIp from './locales/zh/computeFloatingIp.ts'
import type computeSecurity from './locales/zh/computeSecurity.ts'
import type computeStorage from './locales/zh/computeStorage.ts'
import type computeTenancy from './locales/zh/computeTenancy.ts'
import type arrears from './locales/zh/arrears.ts'
import type order from './locales/zh/order.ts'
import type overview from './locales/zh/overview.ts'
import type publicPages from './locales/zh/public.ts'
import type report from './locales/zh/report.ts'
import type routes from './locales/zh/routes.ts'
import type settings from './locales/zh/settings.ts'
import type shell from './locales/zh/shell.ts'
import type snapshot from './locales/zh/snapshot.ts'
import type storage from './locales/zh/storage.ts'

// Keys are checked by the compiler: a message that is not in zh is a type error.
declare module 'i18next' {
  interface CustomTypeOptions {
    defaultNS: 'shell'
    returnNull: false
    resources: {
      shell: typeof shell
      kit: typeof kit
      report: typeof report
      routes: typeof routes
      public: typeof publicPages
      nextstack: typeof nextstack
      nextstackCompute: typeof nextstackCompute
      compute: typeof compute
      computeFirewall: typeof computeFirewall
      computeFlavor: typeof computeFlavor
      computeImage: typeof computeImage
      computeInstance: typeof computeInstance
      computeNetwork: typeof computeNetwork
      computeFloatingIp: typeof computeFloatingIp
      computeSecurity: typeof computeSecurity
      computeStorage: typeof computeStorage
      computeTenancy: typeof computeTenancy
      network: typeof network
      edge: typeof edge
      fund: typeof fund
      catalogue: typeof catalogue
      container: typeof container
      application: typeof application
      storage: typeof storage
      order: typeof order
      snapshot: typeof snapshot
      image: typeof image
      hardware: typeof hardware
      content: typeof content
      help: typeof help
      account: typeof account
      overview: typeof overview
      licence: typeof licence
      clouds: typeof clouds
      settings: typeof settings
      arrears: typeof arrears
      iam: typeof iam
      keeping: typeof keeping
    }
  }
}
