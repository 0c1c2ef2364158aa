public import FieldpackCore

/// Fixes and headings from the lines of standard input, a file, a pipe or a device.
///
///     for try await updates in LineSource(path: "/dev/ttyACM0").updates() { … }
///
/// - Updates come as soon as a read gives whole lines, at most 1,024 lines at a time. Reading blocks
///   on a thread of its own: nothing wakes while nothing comes. Cancelling the task ends it.
/// - The first line tells the format, unless it is given: see ``Format``.
/// - A line that cannot be read ends the sequence with `.invalidData` and its number, after the
///   fixes of the lines before it; with ``Options/skipsErrors`` it is counted in ``report``. What is
///   left of a sentence that a pipe or device was joined in is passed over.
/// - A line is 1 MiB at most; no more than that and one read is held in memory.
/// - A serial device is read as it is set up (`stty`).
public struct LineSource: LocationSource {
  /// What lines are.
  public enum Format: String, Hashable, Sendable, CaseIterable {
    /// An object or a GeoJSON point feature a line: see ``JSONFixReader``.
    case json
    /// NMEA 0183, of any talker: GGA, RMC, GLL, GNS, VTG, GSA, GST, ZDA, HDT, THS and HDG. Where
    /// there is no GST the accuracy is 5 m times the dilution of precision.
    case nmea
    /// gpsd's reports: TPV with a fix is read, others are passed over; so `gpspipe -w` gives them.
    /// NMEA sentences between them are read, too (`gpspipe -r`).
    case gpsd
  }

  public struct Options: Sendable {
    /// `nil` leaves it to the first line.
    public var format: Format?
    /// Counts lines that cannot be read in the report instead of ending.
    public var skipsErrors = false
    /// Whose fixes those are that name no device.
    public var device = ""
    /// The longest line in bytes.
    public var lineLimit = 1 << 20

    public init() {}
  }

  /// The lines that the newest reading passed over as errors: all counted, the first 1,000 listed.
  public let report = QueryReport()
  private let input: LineInput
  private let options: Options

  /// Reads lines from an open descriptor, which stays open.
  ///
  /// It can be read once only, from where it stands.
  /// - Parameter name: what errors call it.
  public init(descriptor: Int32, name: String = "stdin", options: Options = Options()) {
    input = .descriptor(descriptor, name: name)
    self.options = options
  }

  /// Lines of a file, pipe or device, which is opened for each reading.
  public init(path: String, options: Options = Options()) {
    input = .path(path)
    self.options = options
  }

  /// Denied where the file or device must not be read, else always.
  public var authorization: LocationAuthorization { input.isForbidden ? .denied : .always }

  /// Whether the file or device is there.
  public var isAvailable: Bool { input.isThere }

  /// Whether these are the lines of a file by its path.
  public var isComplete: Bool { input.isFile }

  public func updates() -> LocationUpdates {
    let (input, options, report) = (input, options, report)
    return LocationUpdates {
      report.reset()
      let reading = LineReading { stop in
        var reader = LineFixReader(input, options, report: report, stop: stop)
        return { () throws(FieldpackError) in try reader.next() }
      }
      return { () async throws(FieldpackError) in try await reading.next() }
    }
  }
}
