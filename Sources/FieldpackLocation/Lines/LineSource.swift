public import FieldpackCore

/// Fixes and headings from the lines of standard input, a file, a pipe or a device.
///
///     for try await updates in LineSource(path: "/dev/ttyACM0").updates() { … }
///
/// - Updates come as soon as a read gives whole lines, at most 1,024 lines at a time. Reading blocks
///   on a thread of its own: nothing wakes while nothing comes. Cancelling the task ends it.
/// - The format is detected from the first line unless it is given; see ``Format``.
/// - A line that cannot be read ends the sequence with `.invalidData` and its number, after the
///   fixes of the lines before it; with ``Options/skipsErrors`` it is counted in ``report``. The
///   rest of a sentence in which reading a pipe or device began is skipped.
/// - A line has 1 MiB at most; memory holds one line and one read.
/// - A serial device is read with the settings that it has (`stty`).
public struct LineSource: LocationSource {
  /// The format of the lines.
  public enum Format: String, Hashable, Sendable, CaseIterable {
    /// One object, GeoJSON point feature or message of OwnTracks in each line; see
    /// ``JSONFixReader``.
    case json
    /// NMEA 0183, of any talker: GGA, RMC, GLL, GNS, VTG, GSA, GST, ZDA, HDT, THS and HDG. Where
    /// there is no GST the accuracy is 5 m times the dilution of precision.
    case nmea
    /// gpsd's reports, as `gpspipe -w` prints them: TPV with a fix is read, others are ignored.
    /// NMEA sentences between them are read as well (`gpspipe -r`).
    case gpsd
  }

  public struct Options: Sendable {
    /// `nil` leaves it to the first line.
    public var format: Format?
    /// Whether lines that cannot be read are counted in ``report`` instead of ending the sequence.
    public var skipsErrors = false
    /// The device of fixes that name none.
    public var device = ""
    /// The longest line in bytes.
    public var lineLimit = 1 << 20

    public init() {}
  }

  /// The lines that the newest reading skipped as errors: all are counted, the first 1,000 are
  /// listed.
  public let report = QueryReport()
  private let input: LineInput
  private let options: Options

  /// Reads lines from an open descriptor, which stays open.
  ///
  /// It can be read only once, from where it stands.
  /// - Parameter name: what errors call it.
  public init(descriptor: Int32, name: String = "stdin", options: Options = Options()) {
    input = .descriptor(descriptor, name: name)
    self.options = options
  }

  /// Reads lines from a file, pipe or device, which is opened for each reading.
  public init(path: String, options: Options = Options()) {
    input = .path(path)
    self.options = options
  }

  /// `denied` where the permissions forbid reading the file or device, else `always`.
  public var authorization: LocationAuthorization { input.isForbidden ? .denied : .always }

  /// Whether the file or device exists.
  public var isAvailable: Bool { input.isThere }

  /// Whether the source is a regular file given by its path.
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
