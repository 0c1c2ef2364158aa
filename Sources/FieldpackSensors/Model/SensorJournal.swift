package import FieldpackCore

/// What a link keeps of its work, so that a kill loses nothing.
///
/// The order is the link's to hold: the ids of captures are kept before the first is downloaded, and a
/// session before the lock that it asks for is used.
package protocol SensorJournal: Sendable {
  /// Logs an operation on the wire.
  func operation(_ entry: SensorLogEntry) async throws(FieldpackError)

  /// Keeps the session of a device, and whether it holds the lock. One without an id and lock is
  /// forgotten.
  func session(_ session: SensorSession) async throws(FieldpackError)

  /// Forgets a session that its device has taken back; a newer one of the device stays.
  func forget(_ session: SensorSession) async throws(FieldpackError)

  /// Keeps ids of captures that a device answered, before they are downloaded. Ids that are pending of
  /// this device change nothing; one that is stored or lost names a new capture, because the device
  /// begins its ids anew.
  ///
  /// - Parameter item: what the captures are of.
  func captured(
    _ ids: [String], by device: SensorAddress, for item: KeyTuple?
  ) async throws(FieldpackError)

  /// Stores what was downloaded of a capture with its item, in one transaction.
  ///
  /// - Returns: the item's key tuple; `nil` where the capture was stored before, so that nobody is told
  ///   of it twice.
  /// - Throws: `.notFound` where the item is gone; the capture is lost then.
  func post(_ download: SensorDownload) async throws(FieldpackError) -> KeyTuple?

  /// Notes that a capture of a device cannot be had any more. One that is stored stays so.
  func lost(
    _ captureId: String, by device: SensorAddress, because: FieldpackError
  ) async throws(FieldpackError)

  /// What earlier work has left: sessions that may hold a lock, and captures neither stored nor lost.
  func unfinished() async throws(FieldpackError) -> UnfinishedWork
}

/// What makes a sensor this one: its address and the name that the user gave it.
public struct SensorAddress: Hashable, Sendable {
  /// With its scheme, such as `http://192.0.2.7:8000/sensor`.
  public var uri: String
  public var name: String

  public init(uri: String, name: String = "") {
    self.uri = uri
    self.name = name
  }
}

/// One operation on the wire, as the log of operations has it.
package struct SensorLogEntry: Hashable, Sendable {
  package var device: SensorAddress
  package var session: String?
  /// What the operation was for.
  package var item: KeyTuple?
  package var operation: SensorOperation
  /// The sequence that the operation belongs to.
  package var sequence: SensorSequence?
  package var httpStatus: Int?
  /// The status as the sensor wrote it.
  package var status: String?
  package var message: String?
  package var badFields: [String] = []
  /// In seconds since 1970.
  package var startedAt: Double
  package var elapsed: Duration

  package init(
    device: SensorAddress, operation: SensorOperation, startedAt: Double, elapsed: Duration
  ) {
    self.device = device
    self.operation = operation
    self.startedAt = startedAt
    self.elapsed = elapsed
  }
}

/// A device's session, as the journal keeps it.
package struct SensorSession: Hashable, Sendable {
  package var device: SensorAddress
  /// `nil` where the device has not registered us.
  package var id: String?
  package var holdsLock: Bool

  package init(device: SensorAddress, id: String?, holdsLock: Bool) {
    self.device = device
    self.id = id
    self.holdsLock = holdsLock
  }
}

/// What was downloaded of a capture.
package struct SensorDownload: Sendable {
  package var captureId: String
  package var device: SensorAddress
  /// What the capture is of; `nil` takes the item that ``SensorJournal/captured(_:by:for:)`` noted.
  package var item: KeyTuple?
  /// The metadata as a JSON object.
  package var metadata: String?
  package var content: SpooledBytes
  /// The type that the metadata states. The bytes have the last word.
  package var contentType: String?

  package init(
    captureId: String, device: SensorAddress, item: KeyTuple? = nil, metadata: String? = nil,
    content: SpooledBytes, contentType: String? = nil
  ) {
    self.captureId = captureId
    self.device = device
    self.item = item
    self.metadata = metadata
    self.content = content
    self.contentType = contentType
  }
}

/// A capture that is neither stored nor lost.
package struct PendingCapture: Hashable, Sendable {
  package var id: String
  package var device: SensorAddress
  package var item: KeyTuple?

  package init(id: String, device: SensorAddress, item: KeyTuple?) {
    self.id = id
    self.device = device
    self.item = item
  }
}

/// What earlier work has left to do: locks to release, captures to download.
package struct UnfinishedWork: Hashable, Sendable {
  /// Sessions with an id, whether or not they hold the lock.
  package var sessions: [SensorSession]
  /// In the order that they were captured in.
  package var captures: [PendingCapture]

  package init(sessions: [SensorSession] = [], captures: [PendingCapture] = []) {
    self.sessions = sessions
    self.captures = captures
  }
}
