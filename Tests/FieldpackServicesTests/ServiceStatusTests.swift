import Fieldpack
import FieldpackServices
import Testing

struct ServiceStatusTests {
  @Test func `services and stores have the numbers that bridges exchange`() {
    #expect(ServiceStatus.allCases.map(\.rawValue) == [0, 1, 2, 3])
    #expect(
      [ServiceStatus.paused, .running, .stopped, .error].map(\.rawValue) == [0, 1, 2, 3])
    #expect(
      [StoreStatus.started, .running, .paused, .stopped, .downloading, .downloadFailed]
        .map(\.rawValue) == [0, 1, 2, 3, 4, 5])
  }
}
