// The generated client takes a retry policy of Polly, which no registry here has. It is used only where a program sets one.
namespace Polly
{
    using System;
    using System.Threading.Tasks;

    public enum OutcomeType { Successful, Failure }

    public class PolicyResult<T>
    {
        public OutcomeType Outcome { get; set; }
        public T Result { get; set; }
        public Exception FinalException { get; set; }
    }

    public interface ISyncPolicy<T>
    {
        PolicyResult<T> ExecuteAndCapture(Func<T> run);
    }

    public interface IAsyncPolicy<T>
    {
        Task<PolicyResult<T>> ExecuteAndCaptureAsync(Func<Task<T>> run);
    }
}
