import FieldpackCore
import FieldpackServices
import Testing

@testable import FieldpackCLI

@Suite struct BackendLineTests {
  @Test func `what a backend does is a line for people, and a document`() {
    let gone = FieldpackError(.unavailable, "the broker is gone")
    let notification = BackendNotification(priority: .alert, title: "Flood", body: "Leave\u{1b}")
    let lines = [
      ServiceLine(.offline), ServiceLine(.connected), ServiceLine(.disconnected(gone)),
      ServiceLine(.registered), ServiceLine(.configReceived(.cache)),
      ServiceLine(.configReceived(.backend)),
      ServiceLine(.configChanged(action: "CONFIG_ADD_STORE", subject: "wells")),
      ServiceLine(.configChanged(action: "CONFIG_REMOVE_FORM", subject: "visit")),
      ServiceLine(.notification(notification)), ServiceLine(.failed(gone)),
    ]
    #expect(
      lines.compactMap(\.text).joined() == """
        SC_BACKEND_SERVICE: no network
        SC_BACKEND_SERVICE: connected
        SC_BACKEND_SERVICE: not connected
          the broker is gone
        SC_BACKEND_SERVICE: device registered
        SC_BACKEND_SERVICE: config of the last time taken
        SC_BACKEND_SERVICE: config received
        SC_BACKEND_SERVICE: CONFIG_ADD_STORE wells
        SC_BACKEND_SERVICE: CONFIG_REMOVE_FORM visit
        SC_BACKEND_SERVICE: alert: Flood: Leave\\u{1b}
        SC_BACKEND_SERVICE: failed, and goes on
          the broker is gone

        """)
    let members = lines.map { line in
      ["event", "store", "form", "message"].map { line.document[$0]?.string ?? "-" }
        .joined(separator: " ")
    }
    #expect(
      members == [
        "SC_BACKEND_EVT_OFFLINE - - -", "SC_BACKEND_EVT_CONNECTED - - -",
        "SC_BACKEND_EVT_DISCONNECTED - - -", "SC_BACKEND_EVT_REGISTERED - - -",
        "SC_BACKEND_EVT_CONFIG_RECEIVED - - -", "SC_BACKEND_EVT_CONFIG_RECEIVED - - -",
        "SC_BACKEND_EVT_CONFIG_CHANGED wells - CONFIG_ADD_STORE",
        "SC_BACKEND_EVT_CONFIG_CHANGED - visit CONFIG_REMOVE_FORM",
        "SC_BACKEND_EVT_NOTIFICATION - - Flood: Leave\u{1b}", "SC_BACKEND_EVT_FAILED - - -",
      ])
  }
}
